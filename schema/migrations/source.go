package migrations

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/template"

	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"
)

//go:embed sql/*.sql
var files embed.FS

// filled is the source of migrations that hands out the files filled in.
type filled struct {
	source.Driver
	options Options
}

func newSource(options Options) (*filled, error) {
	if options.Replicated && options.Cluster == "" {
		return nil, errors.New("replicated tables need the name of a cluster")
	}
	if options.Cluster != "" && !databaseName.MatchString(options.Cluster) {
		return nil, fmt.Errorf("cluster %q must be a plain name", options.Cluster)
	}
	inner, err := iofs.New(files, "sql")
	if err != nil {
		return nil, err
	}
	return &filled{inner, options}, nil
}

func (f *filled) latest() (version uint) {
	next, err := f.First()
	for err == nil {
		version = next
		next, err = f.Next(version)
	}
	return version
}

// ReadUp is part of source.Driver.
func (f *filled) ReadUp(version uint) (io.ReadCloser, string, error) {
	return f.fill(f.Driver.ReadUp(version))
}

// ReadDown is part of source.Driver.
func (f *filled) ReadDown(version uint) (io.ReadCloser, string, error) {
	return f.fill(f.Driver.ReadDown(version))
}

func (f *filled) fill(r io.ReadCloser, name string, err error) (io.ReadCloser, string, error) {
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, "", err
	}
	t, err := template.New(name).Funcs(f.options.words()).Parse(withoutComments(string(text)))
	if err != nil {
		return nil, "", err
	}
	var out strings.Builder
	if err := t.Execute(&out, nil); err != nil {
		return nil, "", err
	}
	// Files that are printed one after the other are statements still.
	return io.NopCloser(strings.NewReader(strings.TrimSuffix(strings.TrimSpace(out.String()), ";") + ";\n")), name, nil
}

// withoutComments drops comments, because the statements of a file are parted
// at every semicolon, inside comments too.
func withoutComments(text string) string {
	lines := strings.Split(text, "\n")
	kept := lines[:0]
	for _, line := range lines {
		code, _, comment := strings.Cut(line, "--")
		if code = strings.TrimRight(code, " "); code != "" || !comment {
			kept = append(kept, code)
		}
	}
	return strings.Join(kept, "\n")
}

// Print writes the statements that Up would run on an empty node.
func Print(_ context.Context, w io.Writer, database string, options Options) error {
	f, err := newSource(options)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s;\n", options.databaseStatement(database)); err != nil {
		return err
	}
	version, err := f.First()
	for ; err == nil; version, err = f.Next(version) {
		r, _, err := f.ReadUp(version)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if _, err := io.Copy(w, r); err != nil {
			return err
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
