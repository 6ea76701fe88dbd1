package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"tonscribe/internal/lifetime"
)

const (
	firstPause = 50 * time.Millisecond
	maxPause   = 2 * time.Second
	// reportEvery is how long an operation may fail before that is logged, and
	// how often it then is.
	reportEvery = 5 * time.Second
)

// permanent are the answers of a broker that do not change by asking again:
// what is asked, or who asks, is wrong.
var permanent = []kafka.Error{
	kafka.MessageSizeTooLarge, kafka.InvalidTopic, kafka.RecordListTooLarge,
	kafka.InvalidRequiredAcks, kafka.InconsistentGroupProtocol, kafka.InvalidGroupId, kafka.InvalidSessionTimeout,
	kafka.TopicAuthorizationFailed, kafka.GroupAuthorizationFailed, kafka.ClusterAuthorizationFailed,
	kafka.InvalidTimestamp, kafka.UnsupportedSASLMechanism, kafka.IllegalSASLState, kafka.UnsupportedVersion,
	kafka.InvalidPartitionNumber, kafka.InvalidReplicationFactor, kafka.InvalidConfiguration, kafka.PolicyViolation,
	kafka.SASLAuthenticationFailed, kafka.UnsupportedCompressionType,
}

// temporary reports whether the same request may succeed later. Everything that is
// not known to be permanent may: broken connections, failovers, full disks.
func temporary(err error) bool {
	if _, final := errors.AsType[finalError](err); final {
		return false
	}
	if code, is := errors.AsType[kafka.Error](err); is && slices.Contains(permanent, code) {
		return false
	}
	var unknownAuthority x509.UnknownAuthorityError
	var verification *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	return !errors.As(err, &unknownAuthority) && !errors.As(err, &verification) && !errors.As(err, &notTLS)
}

// finalError is an error of our own that must not be retried.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// persist tries until it succeeds, ctx ends, or the failure is permanent.
func (c *Client) persist(ctx context.Context, operation string, try func(ctx context.Context) error) error {
	return c.persistLong(ctx, operation, func(ctx context.Context, _ func()) error { return try(ctx) })
}

// persistLong is persist for what goes on while it succeeds: try calls works when the log
// has answered.
func (c *Client) persistLong(ctx context.Context, operation string, try func(ctx context.Context, works func()) error) error {
	t := &trying{outages: &c.outages, operation: operation}
	defer t.end()
	works := func() {
		if after, told := t.end(); told {
			c.report.Log.Info().Str("operation", operation).Dur("after", after).Msg("the log answers again")
		}
	}
	for {
		err := try(ctx, works)
		switch {
		case err == nil:
			works()
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !temporary(err):
			return err
		}
		c.metrics.retries.WithLabelValues(operation).Inc()
		if since, tell := t.failed(); tell {
			c.report.Log.Warn().Err(err).Str("operation", operation).Int("attempt", t.failures).
				Dur("since", since).Msg("the log does not take a request; trying on")
		}
		if err := lifetime.Sleep(ctx, pause(t.failures-1, maxPause)); err != nil {
			return err
		}
	}
}

// outages are the operations that fail. All who try the same one tell of it together.
type outages struct {
	mutex sync.Mutex
	by    map[string]*outage
}

type outage struct {
	trying          int       // who has failed and not succeeded since
	began, reported time.Time // when the first of them failed, and when that was last told
	told            bool
}

// trying is one who tries an operation.
type trying struct {
	outages   *outages
	operation string
	failures  int // since it last succeeded
}

// failed is how long the operation has failed, and whether that is to be told.
func (t *trying) failed() (since time.Duration, tell bool) {
	t.outages.mutex.Lock()
	defer t.outages.mutex.Unlock()
	t.failures++
	o := t.outages.by[t.operation]
	if o == nil {
		o = &outage{began: time.Now(), reported: time.Now()}
		t.outages.by[t.operation] = o
	}
	if t.failures == 1 {
		o.trying++
	}
	if tell = time.Since(o.reported) > reportEvery; tell {
		o.reported, o.told = time.Now(), true
	}
	return time.Since(o.began), tell
}

// end is that who tries has succeeded, or gives up. told is whether the operation was told to
// fail and now fails for nobody, after is for how long it did.
func (t *trying) end() (after time.Duration, told bool) {
	if t.failures == 0 {
		return 0, false
	}
	t.outages.mutex.Lock()
	defer t.outages.mutex.Unlock()
	t.failures = 0
	o := t.outages.by[t.operation]
	if o.trying--; o.trying > 0 {
		return 0, false
	}
	delete(t.outages.by, t.operation)
	return time.Since(o.began), o.told
}

func pause(attempt int, limit time.Duration) time.Duration {
	return min(firstPause<<min(attempt, 16), limit)
}
