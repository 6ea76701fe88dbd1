package clickhouse

import (
	"context"
	"crypto/x509"
	"errors"
	"slices"

	"github.com/ClickHouse/ch-go/proto"
	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// final are the answers of ClickHouse that do not change by asking again: the
// statement, its data, the access or what the server is set up for is wrong.
var final = []proto.Error{
	proto.ErrCannotParseText, proto.ErrNotFoundColumnInBlock, proto.ErrNoSuchColumnInTable, proto.ErrNumberOfColumnsDoesntMatch,
	proto.ErrBadArguments, proto.ErrIllegalTypeOfArgument, proto.ErrIllegalColumn, proto.ErrUnknownFunction, proto.ErrUnknownIdentifier,
	proto.ErrUnknownType, proto.ErrTypeMismatch, proto.ErrUnknownTable, proto.ErrSyntaxError, proto.ErrArgumentOutOfBound,
	proto.ErrCannotConvertType, proto.ErrUnknownDatabase, proto.ErrUnknownSetting, proto.ErrTooManyRows, proto.ErrTooSlow,
	proto.ErrReadonly, proto.ErrUnknownUser, proto.ErrWrongPassword, proto.ErrRequiredPassword, proto.ErrIPAddressNotAllowed,
	proto.ErrTooManyBytes, proto.ErrCannotInsertNullInOrdinaryColumn, proto.ErrTooManyRowsOrBytes, proto.ErrSettingConstraintViolation,
	proto.ErrAccessDenied, proto.ErrAuthenticationFailed, proto.ErrNoElementsInConfig, proto.ErrReplicaAlreadyExists,
}

// IsCode reports whether an error is ClickHouse's of one of some codes.
func IsCode(err error, codes ...proto.Error) bool {
	exception, is := errors.AsType[*driver.Exception](err)
	return is && slices.Contains(codes, proto.Error(exception.Code))
}

// Retryable reports whether the same statement may succeed later: everything but
// refusals of the statement itself. A server that is down, overloaded, out of
// memory or of parts, a lost Keeper or quorum are for later.
func Retryable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if exception, is := errors.AsType[*driver.Exception](err); is {
		return !slices.Contains(final, proto.Error(exception.Code))
	}
	var unknownAuthority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	if errors.As(err, &unknownAuthority) || errors.As(err, &hostname) {
		return false
	}
	var operation *driver.OpError // wrong columns, found before anything was sent
	return !errors.As(err, &operation) && !errors.Is(err, errColumns)
}
