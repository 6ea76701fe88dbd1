// Package examples holds real requests and answers for the descriptions of the
// layers, recorded on a devnet by the tests in test/openapi. One file is one
// method or endpoint. The package must never be needed for an answer.
package examples

import (
	"embed"
	"encoding/json"
	"io/fs"
	"path"
	"strings"

	"tonscribe/query/openapi"
)

//go:embed v2 v3
var files embed.FS

// recordedNamespace is the namespace of @type in the files.
const recordedNamespace = "chain"

// V2 are the examples of the v2 layer by the names of methods, with a namespace
// of @type.
func V2(namespace string) map[string]*openapi.Example {
	return read("v2", strings.NewReplacer(`"@type":"`+recordedNamespace+`.`, `"@type":"`+namespace+`.`, `"@type": "`+recordedNamespace+`.`, `"@type": "`+namespace+`.`))
}

// V3 are the examples of the v3 layer by the endpoints' paths, without the first
// slash.
func V3() map[string]*openapi.Example { return read("v3", strings.NewReplacer()) }

// read panics over a file that is none, which a test would have found.
func read(dir string, replacer *strings.Replacer) map[string]*openapi.Example {
	all := map[string]*openapi.Example{}
	err := fs.WalkDir(files, dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".json" {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		var example openapi.Example
		if err := json.Unmarshal([]byte(replacer.Replace(string(text))), &example); err != nil {
			return err
		}
		all[strings.TrimSuffix(strings.TrimPrefix(name, dir+"/"), ".json")] = &example
		return nil
	})
	if err != nil {
		panic("query/examples: " + err.Error())
	}
	return all
}
