package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// unmarshal reads JSON. Its errors say what is wrong with the text in the words of JSON;
// UnmarshalJSON leaves that to it, so that they name the member.
func unmarshal(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case wrong.Field == "":
		return fmt.Errorf("%s, want %s", nouns[wrong.Value], nounOf(wrong.Type))
	}
	return fmt.Errorf("%s: %s, want %s", wrong.Field, nouns[wrong.Value], nounOf(wrong.Type))
}

// nouns are what errors call the values of JSON.
var nouns = map[string]string{"array": "a list", "object": "an object", "string": "a text", "number": "a number", "bool": "true or false"}

// nounOf is what JSON has for a type.
func nounOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return nouns["object"]
	case reflect.Slice, reflect.Array:
		return nouns["array"]
	case reflect.String:
		return nouns["string"]
	case reflect.Bool:
		return nouns["bool"]
	}
	return nouns["number"]
}
