package compress

import (
	"strconv"
	"strings"
)

// Names of content codings.
const (
	gzipName = "gzip"
	zstdName = "zstd"
	identity = "identity"
)

// Choose returns the coding of an answer for the values of Accept-Encoding: gzip,
// zstd, or empty for none (RFC 9110, 12.5.3). Of codings that a client likes
// equally it is zstd, which costs less; an answer without a coding is always
// there, so a client that refuses everything gets that.
func Choose(accept []string) string {
	if len(accept) == 0 {
		return ""
	}
	const absent = -1
	quality := map[string]int{gzipName: absent, zstdName: absent, identity: absent}
	others := 0
	for _, line := range accept {
		for item := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(item, ";")
			name = strings.ToLower(strings.TrimSpace(name))
			q, ok := weight(parameters)
			if !ok {
				continue
			}
			if name == "x-gzip" {
				name = gzipName
			}
			if name == "*" {
				others = q
			} else if _, known := quality[name]; known {
				quality[name] = q
			}
		}
	}
	best, most := "", 0
	for _, name := range []string{zstdName, gzipName} {
		q := quality[name]
		if q == absent {
			q = others
		}
		if q > most {
			best, most = name, q
		}
	}
	if quality[identity] > most {
		return ""
	}
	return best
}

// weight reads q=0 to q=1 in thousandths; without it the weight is 1.
func weight(parameters string) (thousandths int, ok bool) {
	const whole = 1000
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0, false
		}
		return int(q * whole), true
	}
	return whole, true
}
