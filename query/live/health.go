package live

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// staleAfter is how old the newest block may be.
const staleAfter = 15 * time.Second

var errOld = errors.New("the newest masterchain block is old")

// component is how one part does.
type component struct {
	OK           bool    `json:"ok"`
	Error        string  `json:"error,omitempty"`
	FinalizedAt  *uint32 `json:"last_finalized_mc_block_time,omitempty"`
	FinalizedAge *int64  `json:"finalized_age_seconds,omitempty"`
}

// serveHealth answers whether the streams have what happens now.
func (c *Component) serveHealth(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	index := component{OK: true}
	if v, err := c.index.Store.View(); err != nil {
		index = component{Error: err.Error()}
	} else {
		age := now.Unix() - int64(v.GenUtime)
		index.FinalizedAt, index.FinalizedAge = &v.GenUtime, &age
		if age > int64(staleAfter/time.Second) {
			index.OK, index.Error = false, errOld.Error()
		}
	}
	status := http.StatusOK
	if !index.OK {
		status = http.StatusServiceUnavailable
	}
	body, err := json.Marshal(struct {
		OK         bool                 `json:"ok"`
		Now        int64                `json:"now"`
		Components map[string]component `json:"components"`
	}{index.OK, now.Unix(), map[string]component{"index": index}})
	if err != nil {
		c.failed(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client has gone when this fails
	}
}
