package send

import (
	"net/http"
	"time"
)

// Kind is why an attempt was made, or KindInterrupted.
type Kind string

// The kinds of attempts.
const (
	KindAuto        Kind = "auto"
	KindManual      Kind = "manual"
	KindTest        Kind = "test"
	KindInterrupted Kind = "interrupted" // its sender was stopped or killed; it was made again, or will be
)

// Attempt is one request, or the evidence that it was begun.
type Attempt struct {
	Merchant, Event ID
	Number          int
	Kind            Kind
	Began           time.Time
	Ended           time.Time // zero while it is under way
	// Phases, 0 for those that there were none of. FirstByte is the time until the status line,
	// Total that until the end, from Began on.
	DNS, Connect, TLS, FirstByte, Total time.Duration

	Remote string // address that was connected to
	Code   int    // HTTP status, 0 without an answer
	Class  Class  // of the failure, empty for a success
	Text   string

	RequestHeaders  http.Header
	ResponseHeaders http.Header
	ResponseBody    []byte
	KeyID           string // tells which secret signed

	reused  bool
	expires time.Time
	changed uint64
}

// Succeeded reports whether the receiver took the event.
func (a *Attempt) Succeeded() bool { return !a.Ended.IsZero() && a.Class == "" }

// Class is what kept an attempt from success.
type Class string

// The classes of failures.
const (
	ClassStatus      Class = "status"          // an answer other than 2xx
	ClassTimeout     Class = "timeout"         // no status line in time
	ClassAddress     Class = "address"         // not globally reachable
	ClassDNS         Class = "dns"             // the name was not resolved
	ClassRefused     Class = "refused"         // nobody listens
	ClassReset       Class = "reset"           // the connection ended before an answer
	ClassTLS         Class = "tls"             // no agreement on TLS
	ClassExpired     Class = "tls_expired"     // the certificate has expired, or is not valid yet
	ClassName        Class = "tls_name"        // the certificate is another host's
	ClassIssuer      Class = "tls_issuer"      // nobody known has issued the certificate
	ClassCertificate Class = "tls_certificate" // another fault of the certificate
	ClassHeaders     Class = "headers"         // the headers of the answer are too large
	ClassProtocol    Class = "protocol"        // the answer is not one of HTTP
	ClassNetwork     Class = "network"         // anything else on the way
	ClassInterrupted Class = "interrupted"     // by the end of the sender
)
