package oracle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"testing"
)

// reader is a process of read_blocks.py.
type reader struct {
	cmd   *exec.Cmd
	ask   io.WriteCloser
	reply *bufio.Reader
	log   bytes.Buffer
	end   error // after which it answers no more
}

func startReader(t *testing.T, python string, arguments ...string) (*reader, error) {
	r := &reader{cmd: exec.CommandContext(t.Context(), python, append([]string{"-I", "read_blocks.py"}, arguments...)...)}
	r.cmd.Stderr = &r.log
	var err error
	if r.ask, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.reply = bufio.NewReader(out)
	return r, r.cmd.Start()
}

// read gives what the process finds in a BoC.
func (r *reader) read(b boc) (*form, error) {
	if _, err := fmt.Fprintf(r.ask, "%s\t%d\t%d\n", b.path, b.offset, b.size); err != nil {
		return nil, r.broken(err)
	}
	line, err := r.reply.ReadBytes('\n')
	if err != nil {
		return nil, r.broken(err)
	}
	f := new(form)
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(f); err != nil {
		return nil, fmt.Errorf("read_blocks.py: %w", err)
	}
	if f.Error != "" {
		return nil, fmt.Errorf("pytoniq-core: %s", f.Error)
	}
	return f, nil
}

func (r *reader) broken(err error) error {
	r.stop()
	r.end = fmt.Errorf("read_blocks.py: %w: %s", err, r.log.Bytes())
	return r.end
}

func (r *reader) stop() {
	r.ask.Close()
	r.cmd.Wait()
}
