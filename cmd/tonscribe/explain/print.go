package explain

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/xssnick/tonutils-go/tvm/cell"
	"google.golang.org/protobuf/reflect/protoreflect"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/tvm"
)

// maxText is how many bytes are printed of one value at most.
const maxText = 200

// print writes a line. What is no printable character in it, since contracts have texts of
// strangers, is written as Go does.
func (e *Explainer) print(format string, arguments ...any) {
	var line strings.Builder
	for _, r := range fmt.Sprintf(format, arguments...) {
		if unicode.IsPrint(r) {
			line.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		line.WriteString(quoted[1 : len(quoted)-1])
	}
	fmt.Fprintln(e.Out, line.String())
}

func (e *Explainer) printRuns() {
	for _, r := range e.runs {
		switch {
		case r.Err != nil:
			e.print("  %s: broken off: %v", r.Method, r.Err)
		case r.ExitCode != 0 && r.ExitCode != 1:
			e.print("  %s: exit code %d after %d gas", r.Method, r.ExitCode, r.Gas)
		default:
			e.print("  %s: %d gas → %s", r.Method, r.Gas, stack(r.Stack))
		}
	}
}

func stack(values tvm.Tuple) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = valueText(value)
	}
	return cut("(" + strings.Join(texts, ", ") + ")")
}

func valueText(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case *big.Int:
		return v.String()
	case *cell.Cell:
		return fmt.Sprintf("cell %x", v.Hash()[:4])
	case *cell.Slice:
		if a, err := v.Copy().LoadAddr(); err == nil && (v.BitsLeft() == 267 || v.BitsLeft() == 2) {
			return a.StringRaw()
		}
		return fmt.Sprintf("slice of %d bits, %d references", v.BitsLeft(), v.RefsNum())
	case tvm.Tuple:
		return stack(v)
	}
	return fmt.Sprintf("%T", value)
}

// message prints what is set of a record's message, one field in a line.
func (e *Explainer) message(indent string, m interface{ ProtoReflect() protoreflect.Message }) {
	reflected := m.ProtoReflect()
	fields := reflected.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if reflected.Has(field) {
			e.field(indent, field, reflected.Get(field))
		}
	}
}

func (e *Explainer) field(indent string, field protoreflect.FieldDescriptor, value protoreflect.Value) {
	if field.IsList() {
		all := value.List()
		for i := range all.Len() {
			e.single(indent, field, all.Get(i))
		}
		return
	}
	e.single(indent, field, value)
}

func (e *Explainer) single(indent string, field protoreflect.FieldDescriptor, value protoreflect.Value) {
	if attribute, ok := value.Interface().(protoreflect.Message); ok {
		if a, ok := attribute.Interface().(*record.TokenAttribute); ok {
			e.print("%s%s: %s", indent, a.Name, cut(a.Value))
			return
		}
		e.print("%s%s", indent, field.Name())
		e.message(indent+"  ", attribute.Interface())
		return
	}
	e.print("%s%s: %s", indent, field.Name(), cut(scalar(field, value)))
}

// hashes are fields whose 32 bytes are no number.
func isHash(field protoreflect.FieldDescriptor) bool {
	name := string(field.Name())
	return strings.HasSuffix(name, "hash") || name == "site_adnl" || name == "storage_bag_id"
}

func scalar(field protoreflect.FieldDescriptor, value protoreflect.Value) string {
	if field.Kind() != protoreflect.BytesKind {
		return value.String()
	}
	switch b := value.Bytes(); {
	case field.Name() == "token_name":
		return string(b)
	case field.Name() == "order", isHash(field):
		return hex.EncodeToString(b)
	case len(b) == schema.AddressSize:
		return raw(b)
	default:
		return new(big.Int).SetBytes(b).String()
	}
}

// raw is an address in its raw form.
func raw(account []byte) string {
	if len(account) != schema.AddressSize {
		return "addr_none"
	}
	return fmt.Sprintf("%d:%x", schema.Workchain(account), schema.AccountID(account))
}

func cut(text string) string {
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func statusName(s record.AccountStatus) string {
	return strings.ToLower(strings.TrimPrefix(s.String(), "ACCOUNT_"))
}

func balance(s *Subject) *big.Int { return new(big.Int).SetUint64(s.Balance) }
