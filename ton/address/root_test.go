package address

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	tonutils "github.com/xssnick/tonutils-go/address"
)

var (
	zeros = strings.Repeat("0", 64)
	hash  = "83DFD552E63729B472FCBCC8C45EBCC6691702558B68EC7527E1BA403A0F31A8"
)

func TestEveryFormOfAnAddressIsReadAndWrittenAsTheOfficialOnesAre(t *testing.T) {
	for _, c := range []struct {
		friendly, raw string
		form          Form
	}{
		{"Ef8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADAU", "-1:" + zeros, Form{Friendly: true}}, // the example of TEP-2
		{"EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N", "0:" + hash, Form{Friendly: true}},
		{"UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI", "0:" + hash, Form{Friendly: true, NonBounceable: true}},
		{"0QBjdZoPHQq-HgQIT610n31y8Sq0GDRz-SClAaJd_d1LT2Dg", "", Form{Friendly: true, NonBounceable: true, TestOnly: true}},
	} {
		a, form, err := Parse(c.friendly)
		if err != nil || form != c.form || c.raw != "" && a.String() != c.raw {
			t.Errorf("%s is %s, %+v (%v), want %s, %+v", c.friendly, a, form, err, c.raw, c.form)
		}
		if got := string(AppendFriendly(nil, a[:], form, base64.URLEncoding)); got != c.friendly {
			t.Errorf("%s is written as %s", c.friendly, got)
		}
		standard := string(AppendFriendly(nil, a[:], form, base64.StdEncoding))
		mixed := strings.Replace(standard, "+", "-", 1)
		for _, text := range []string{standard, mixed, a.String(), strings.ToLower(a.String())} {
			if again, _, err := Parse(text); err != nil || again != a {
				t.Errorf("%s is %s (%v), want %s", text, again, err, a)
			}
		}
		of := tonutils.MustParseAddr(c.friendly)
		if a != New(of.Workchain(), of.Data()) || of.IsBounceable() == form.NonBounceable || of.IsTestnetOnly() != form.TestOnly {
			t.Errorf("%s: %s, %+v, want %s", c.friendly, a, form, of.StringRaw())
		}
	}
	if a := MustParse("-2147483648:" + hash); a.Workchain() != -1<<31 || a.String() != "-2147483648:"+hash {
		t.Errorf("the first workchain is %d in %s", a.Workchain(), a)
	}
}

func TestWhatIsNoAddressIsAnError(t *testing.T) {
	good := "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N"
	for _, text := range []string{
		"", "EQ", "0:12", "0:" + zeros + "0", "0:" + zeros[1:] + "g", ":" + zeros, "x:" + zeros, "2147483648:" + zeros, "0x0:" + zeros, " 0:" + zeros,
		good[:47], good + "A", good[:47] + "O", good[:47] + "=", good[:46] + "\r\n", "E Q" + good[3:], "AA" + good[2:], strings.ToLower(good),
		"kA" + good[2:], // the checksum covers the flags
	} {
		if a, _, err := Parse(text); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q is read as %s (%v), want %v", text, a, err, ErrInvalid)
		}
	}
	form := make([]byte, Size)
	form[0] = 0x12 // no tag of an account
	sum := Checksum(form[:Size-2])
	form[Size-2], form[Size-1] = byte(sum>>8), byte(sum)
	if a, _, err := Parse(base64.URLEncoding.EncodeToString(form)); !errors.Is(err, ErrInvalid) {
		t.Errorf("a form with tag 0x12 is read as %s (%v), want %v", a, err, ErrInvalid)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("0:" + zeros)
	f.Add("EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N")
	f.Fuzz(func(t *testing.T, text string) {
		a, form, err := Parse(text)
		if err != nil {
			return
		}
		if again, _, err := Parse(a.String()); err != nil || again != a {
			t.Errorf("%q is %s, which is read as %s (%v)", text, a, again, err)
		}
		if form.Friendly {
			written := AppendFriendly(nil, a[:], form, base64.URLEncoding)
			if again, as, err := Parse(string(written)); err != nil || again != a || as != form {
				t.Errorf("%q is written as %s, which is read as %s, %+v (%v)", text, written, again, as, err)
			}
		}
	})
}
