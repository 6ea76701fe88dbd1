package signature

import (
	"strings"
	"testing"
	"time"
)

func TestSignaturesAreThoseOfPublishedExamples(t *testing.T) {
	// GitHub, "Validating webhook deliveries".
	const github = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	if have := Sign([]byte("Hello, World!"), "It's a Secret to Everybody"); have != github {
		t.Errorf("the signature is %s, want %s", have, github)
	}
	// The example of the Standard Webhooks specification.
	const standard = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	secret := "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	at := time.Unix(1614265330, 0)
	if have := Standard("msg_p5jXN8AQM9LWM0D4loKWxJek", at, []byte(`{"test": 2432232314}`), secret); have != standard {
		t.Errorf("the signature is %s, want %s", have, standard)
	}
}

func TestAHeaderIsRightForOneOfTheSecretsOnly(t *testing.T) {
	body, old, next := []byte(`{"a":1}`), NewSecret(), NewSecret()
	signed := Sign(body, old)
	for _, c := range []struct {
		why, value string
		body       []byte
		secrets    []string
		want       bool
	}{
		{"its own", signed, body, []string{old}, true},
		{"one of two", signed, body, []string{next, old}, true},
		{"another secret", signed, body, []string{next}, false},
		{"no secrets", signed, body, nil, false},
		{"a secret that was never set", Sign(body, ""), body, []string{""}, false},
		{"another body", signed, []byte(`{"a": 1}`), []string{old}, false},
		{"upper case", strings.ToUpper(signed), body, []string{old}, false},
		{"no prefix", strings.TrimPrefix(signed, prefix), body, []string{old}, false},
		{"nothing", "", body, []string{old}, false},
	} {
		if have := Verify(c.body, c.value, c.secrets...); have != c.want {
			t.Errorf("%s: right is %t, want %t", c.why, have, c.want)
		}
	}
}

func TestWhileASecretIsReplacedBothSignTheStandardHeader(t *testing.T) {
	at, body := time.Unix(1700000000, 0), []byte("{}")
	a, b := NewSecret(), NewSecret()
	want := Standard("id", at, body, a) + " " + Standard("id", at, body, b)
	if have := Standard("id", at, body, a, b); have != want || a == b || len(a) != len("whsec_")+44 {
		t.Errorf("the header is %s, want %s (secrets %s, %s)", have, want, a, b)
	}
}
