package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/uuid"
)

// mendDatabases writes the definitions of databases again that are empty: a disk
// that was full when the database was made leaves them so, the engine goes on with
// what it has in memory, and does not start with them again. The definition is the
// database's UUID, which its folder has as its name.
func mendDatabases(data string) error {
	files, err := filesIn(data, "metadata/*.sql")
	if err != nil {
		return err
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() > 0 {
			continue // of what is no file the engine tells
		}
		folder, err := os.Readlink(strings.TrimSuffix(file, ".sql"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = os.Remove(file) // it has no tables, and is made again
		case err == nil:
			err = writeFile(file, fmt.Appendf(nil, "ATTACH DATABASE _ UUID '%s'\nENGINE = Atomic\n", filepath.Base(folder)))
		}
		if err != nil {
			return fmt.Errorf("%s is empty, and cannot be written again: %w", file, err)
		}
	}
	return nil
}

// definitionsFolder has the definitions of tables that views make anew, by the UUIDs of
// their databases.
const definitionsFolder = "definitions"

var (
	refreshing  = regexp.MustCompile(`^ATTACH MATERIALIZED VIEW _ UUID '[^']*'\nREFRESH ([^\n]*) TO (?:\w+\.)?(\w+)\n`)
	uuidOfTable = regexp.MustCompile(`^(ATTACH TABLE _ UUID ')[^']*'`)
	// unfinished are the files of tables that are to take the places of others.
	unfinished = regexp.MustCompile(`^(%2Etmp|_tmp_replace_)`)
)

// definitionsIn are the files that define the tables and views of a data folder.
func definitionsIn(data string) ([]string, error) {
	return filesIn(data, "store/*/*/*.sql")
}

// filesIn are the files of a folder that match a pattern. The folder's own path may
// have signs of patterns.
func filesIn(folder, pattern string) ([]string, error) {
	files, err := fs.Glob(os.DirFS(folder), pattern)
	for i := range files {
		files[i] = filepath.Join(folder, files[i])
	}
	return files, err
}

func (s *supervisor) keptDefinition(file string) string {
	return filepath.Join(s.options.Dir, definitionsFolder, filepath.Base(filepath.Dir(file)), filepath.Base(file))
}

// KeepDefinitions keeps the definitions of tables that views make anew as a whole: the engine
// writes them again each time, and on a disk that is full nothing. It is called when all
// tables are made.
func (s *supervisor) KeepDefinitions() error {
	files, err := definitionsIn(filepath.Join(s.options.Dir, "data"))
	if err != nil {
		return err
	}
	for _, view := range files {
		text, err := os.ReadFile(view)
		if errors.Is(err, fs.ErrNotExist) {
			continue // of one that was to take the place of another
		}
		if err != nil {
			return err
		}
		to := refreshing.FindSubmatch(text)
		if to == nil || bytes.HasSuffix(to[1], []byte(" APPEND")) {
			continue
		}
		file := filepath.Join(filepath.Dir(view), string(to[2])+".sql")
		definition, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the view fills a table of another database
		}
		if err != nil {
			return err
		}
		kept, _ := os.ReadFile(s.keptDefinition(file))
		if !uuidOfTable.Match(definition) || bytes.Equal(withoutUUID(kept), withoutUUID(definition)) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(s.keptDefinition(file)), 0o700); err != nil {
			return err
		}
		if err := writeFile(s.keptDefinition(file), definition); err != nil {
			return err
		}
	}
	return nil
}

func withoutUUID(definition []byte) []byte { return uuidOfTable.ReplaceAll(definition, nil) }

// mendTables writes the definitions of tables that views make anew again where they are
// empty. Their rows come with the view's next run. Of another table the engine tells.
func (s *supervisor) mendTables() error {
	files, err := definitionsIn(filepath.Join(s.options.Dir, "data"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() > 0 {
			continue
		}
		var err error
		if kept, missing := os.ReadFile(s.keptDefinition(file)); missing == nil {
			err = writeFile(file, uuidOfTable.ReplaceAll(kept, []byte("${1}"+uuid.NewString()+"'")))
		} else if unfinished.MatchString(filepath.Base(file)) {
			err = os.Remove(file)
		}
		if err != nil {
			return fmt.Errorf("%s is empty, and cannot be written again: %w", file, err)
		}
	}
	return nil
}
