package main

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"tonscribe/query/auth"
)

// A script whose variable is not set must not make a key for more than it was meant for.
func TestAKeyForNetworksThatAreNotNamedIsNotMade(t *testing.T) {
	c := keysAdd(newSettings(&cobra.Command{}))
	c.SetArgs([]string{"shop", "--networks", ""})
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	if err := c.ExecuteContext(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "--networks names none") {
		t.Errorf("got %v, want that --networks names none", err)
	}
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// Whoever reads the output has no key then, and the tables do not know it.
func TestASecretThatCouldNotBeShownIsAnErrorThatSaysWhatToDo(t *testing.T) {
	secret := auth.NewSecret()
	key, err := auth.KeyOf(secret)
	if err != nil {
		t.Fatal(err)
	}
	c := &cobra.Command{}
	c.SetOut(fullDisk{})
	c.SetErr(io.Discard)
	for want, err := range map[string]error{
		"tonscribe keys revoke " + key.ID(): printMadeKey(c, key, secret),
		"tonscribe merchants key 01":        madeMerchant{ID: "01", Name: "shop", Key: "key", Token: "token"}.print(c, false),
		"tonscribe merchants key 02":        madeMerchant{ID: "02", Name: "shop", Key: "key"}.print(c, true),
		"tonscribe merchants token 03":      madeMerchant{ID: "03", Name: "shop", Token: "token"}.print(c, false),
	} {
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want that the disk is full, and %q", err, want)
		}
	}
}
