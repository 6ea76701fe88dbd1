package clickhouse

import (
	"context"
	"crypto/x509"
	"errors"
	"slices"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// final are the answers of ClickHouse that do not change by asking again: the
// statement, its data or the access is wrong.
var final = []int32{
	6,   // CANNOT_PARSE_TEXT
	10,  // NOT_FOUND_COLUMN_IN_BLOCK
	16,  // NO_SUCH_COLUMN_IN_TABLE
	20,  // NUMBER_OF_COLUMNS_DOESNT_MATCH
	36,  // BAD_ARGUMENTS
	43,  // ILLEGAL_TYPE_OF_ARGUMENT
	44,  // ILLEGAL_COLUMN
	46,  // UNKNOWN_FUNCTION
	47,  // UNKNOWN_IDENTIFIER
	50,  // UNKNOWN_TYPE
	53,  // TYPE_MISMATCH
	60,  // UNKNOWN_TABLE
	62,  // SYNTAX_ERROR
	69,  // ARGUMENT_OUT_OF_BOUND
	70,  // CANNOT_CONVERT_TYPE
	81,  // UNKNOWN_DATABASE
	115, // UNKNOWN_SETTING
	158, // TOO_MANY_ROWS
	160, // TOO_SLOW
	164, // READONLY
	192, // UNKNOWN_USER
	193, // WRONG_PASSWORD
	194, // REQUIRED_PASSWORD
	195, // IP_ADDRESS_NOT_ALLOWED
	307, // TOO_MANY_BYTES
	349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
	396, // TOO_MANY_ROWS_OR_BYTES
	452, // SETTING_CONSTRAINT_VIOLATION
	497, // ACCESS_DENIED
	516, // AUTHENTICATION_FAILED
}

// Retryable reports whether the same statement may succeed later: everything but
// refusals of the statement itself. A server that is down, overloaded, out of
// memory or of parts, a lost Keeper or quorum are for later.
func Retryable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var exception *driver.Exception
	if errors.As(err, &exception) {
		return !slices.Contains(final, exception.Code)
	}
	var unknownAuthority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	if errors.As(err, &unknownAuthority) || errors.As(err, &hostname) {
		return false
	}
	var operation *driver.OpError // wrong columns, found before anything was sent
	return !errors.As(err, &operation) && !errors.Is(err, errColumns)
}
