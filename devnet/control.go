package devnet

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"tonscribe/internal/descriptors"
	"tonscribe/internal/listen"
)

// Running is what a running devnet leaves in its folder for commands beside it.
type Running struct {
	PID int `json:"pid"`
	// Seed gives the keys of the owners.
	Seed uint64 `json:"seed"`
	// LiteServer is its address, Config the path of the TON global config.
	LiteServer string `json:"liteserver"`
	Config     string `json:"config"`
	// Control is where Split and Merge are asked for, with the token.
	Control string `json:"control"`
	Token   string `json:"token"`
}

const runningFile = "run.json"

// FindRunning reads what the devnet in a folder has left; os.ErrNotExist when
// none runs there.
func FindRunning(dir string) (Running, error) {
	path := filepath.Join(dir, runningFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return Running{}, err
	}
	var r Running
	if err := json.Unmarshal(text, &r); err != nil {
		return Running{}, fmt.Errorf("%s: %w (remove it if no devnet runs there)", path, err)
	}
	if err := unix.Kill(r.PID, 0); errors.Is(err, unix.ESRCH) {
		return Running{}, os.ErrNotExist // left behind by one that was killed
	}
	return r, nil
}

// control lets commands in other processes ask for splits and merges.
type control struct {
	devnet *Component
	token  string
	server *listen.Server
	path   string
}

// controlConnections is for commands beside, one at a time.
const controlConnections = 16

func startControl(c *Component) (*control, error) {
	bounds := listen.DefaultConfiguration()
	bounds.Connections = controlConnections
	listener, err := listen.Listen(context.Background(), "tcp", "127.0.0.1:0", bounds, listen.Options{
		Name: "devnet_control", Report: c.report, Part: descriptors.LiteServer,
	})
	if err != nil {
		return nil, err
	}
	k := &control{devnet: c, token: rand.Text(), path: filepath.Join(c.configuration.Dir, runningFile)}
	k.server = listener.Serve(k.handler())
	r := Running{
		PID: os.Getpid(), Seed: c.origin.Seed, LiteServer: c.server.Addr().String(), Config: c.ConfigPath(),
		Control: "http://" + listener.Addr().String(), Token: k.token,
	}
	return k, writeJSON(k.path, r, 0o600)
}

func (k *control) stop(ctx context.Context) error {
	err := k.server.Stop(ctx)
	if e := os.Remove(k.path); !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

func (k *control) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /split", k.shard((*Component).Split))
	mux.HandleFunc("POST /merge", k.shard((*Component).Merge))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+k.token)) != 1 {
			http.Error(w, "the token of run.json is wanted", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (k *control) shard(do func(*Component, uint64) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		shard := uint64(0)
		if text := r.URL.Query().Get("shard"); text != "" {
			var err error
			if shard, err = strconv.ParseUint(text, 16, 64); err != nil {
				http.Error(w, fmt.Sprintf("shard %q: want 16 hexadecimal digits", text), http.StatusBadRequest)
				return
			}
		}
		if err := do(k.devnet, shard); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// Ask asks a running devnet for a split or a merge ("split", "merge") of a shard,
// 16 hexadecimal digits; empty is one that it chooses.
func (r Running) Ask(ctx context.Context, what, shard string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Control+"/"+what+"?shard="+shard, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+r.Token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("the devnet does not answer: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 4096))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusNoContent {
		return errors.New(string(bytes.TrimSpace(text)))
	}
	return nil
}
