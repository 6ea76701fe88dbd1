package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
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
	var final finalError
	if errors.As(err, &final) {
		return false
	}
	var code kafka.Error
	if errors.As(err, &code) && slices.Contains(permanent, code) {
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
	var began, reported time.Time // when it first failed, and when that was last told
	troubled := false
	for attempt := 0; ; attempt++ {
		err := try(ctx)
		if attempt == 0 { // which may have taken hours: who joins a group waits for its generation to end
			began, reported = time.Now(), time.Now()
		}
		switch {
		case err == nil:
			if troubled {
				c.report.Log.Info().Str("operation", operation).Dur("after", time.Since(began)).Msg("the log answers again")
			}
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !temporary(err):
			return err
		}
		c.metrics.retries.WithLabelValues(operation).Inc()
		if time.Since(reported) > reportEvery {
			reported, troubled = time.Now(), true
			c.report.Log.Warn().Err(err).Str("operation", operation).Int("attempt", attempt+1).
				Dur("since", time.Since(began)).Msg("the log does not take a request; trying on")
		}
		if err := lifetime.Sleep(ctx, pause(attempt, maxPause)); err != nil {
			return err
		}
	}
}

func pause(attempt int, limit time.Duration) time.Duration {
	return min(firstPause<<min(attempt, 16), limit)
}
