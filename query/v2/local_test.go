package v2

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"tonscribe/internal/report"
	"tonscribe/query/node"
	"tonscribe/test/support/openapitest"
)

// service is an API with a router around it.
type service struct {
	t        *testing.T
	router   *gin.Engine
	document *openapitest.Document
}

func newAPI(t testing.TB, servers node.Servers, configuration Configuration) *API {
	n, err := node.New(configuration.Configuration, node.Dependencies{Report: report.Silent(), Servers: servers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	api, err := New(configuration.TypeNamespace, n, report.Silent())
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func newService(t *testing.T, servers node.Servers, change ...func(*Configuration)) *service {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	configuration := DefaultConfiguration()
	for _, f := range change {
		f(&configuration)
	}
	api := newAPI(t, servers, configuration)
	router := gin.New()
	router.HandleMethodNotAllowed = true
	router.NoRoute(func(c *gin.Context) { NotFound(c.Writer) })
	router.NoMethod(func(c *gin.Context) { BadMethod(c.Writer, c.Request) })
	api.Mount(router)
	return &service{t: t, router: router, document: documentOf(t, configuration.TypeNamespace)}
}

// reply is an answer taken apart.
type reply struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

func (s *service) send(method, target, body string) reply {
	s.t.Helper()
	request := httptest.NewRequestWithContext(s.t.Context(), method, target, bytes.NewReader([]byte(body)))
	recorder := httptest.NewRecorder()
	s.router.ServeHTTP(recorder, request)
	r := reply{status: recorder.Code, header: recorder.Header(), text: recorder.Body.String()}
	if recorder.Body.Len() > 0 {
		if err := json.Unmarshal(recorder.Body.Bytes(), &r.body); err != nil {
			s.t.Fatalf("%s %s %s: %v in %s", method, target, body, err, r.text)
		}
	}
	s.isDescribed(method, target, body, recorder)
	return r
}

// forms are the three ways to call a method.
var forms = []string{"GET", "POST", "JSON-RPC"}

// ask calls a method with parameters that are text everywhere.
func (s *service) ask(form, name string, parameters map[string]string) reply {
	s.t.Helper()
	switch form {
	case "GET":
		values := url.Values{}
		for key, value := range parameters {
			values.Set(key, value)
		}
		return s.send(http.MethodGet, Prefix+"/"+name+"?"+values.Encode(), "")
	case "POST":
		body, _ := json.Marshal(parameters)
		return s.send(http.MethodPost, Prefix+"/"+name, string(body))
	}
	params, _ := json.Marshal(parameters)
	return s.send(http.MethodPost, Prefix+"/jsonRPC", `{"jsonrpc":"2.0","id":1,"method":"`+name+`","params":`+string(params)+`}`)
}

func (r reply) refusal(t *testing.T, what string, status int, text string) {
	t.Helper()
	if r.status != status || r.body["ok"] != false || r.body["code"] != float64(status) || r.body["error"] != text {
		t.Errorf("%s: got %d %s, want %d %q", what, r.status, r.text, status, text)
	}
	if extra, ok := r.body["@extra"].(string); !ok || extra == "" {
		t.Errorf("%s: @extra is %v", what, r.body["@extra"])
	}
}

// at follows a path of keys and indexes that are parted by dots.
func at(value any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			index := int(key[0] - '0')
			if index >= len(v) {
				return nil
			}
			value = v[index]
		default:
			return nil
		}
	}
	return value
}

func TestAddressesAreShownInAllForms(t *testing.T) {
	s := newService(t, nil)
	const raw, bounceable, non = "0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8",
		"EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N", "UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI"
	cases := []struct{ input, raw, bounceable, non, given, packed string }{
		{bounceable, raw, bounceable, non, "friendly_bounceable", bounceable},
		{non, raw, bounceable, non, "friendly_non_bounceable", non},
		{raw, raw, bounceable, non, "raw_form", bounceable},
		{"0:" + strings.ToUpper(raw[2:]), raw, bounceable, non, "raw_form", bounceable},
		{
			"0:5f696ae8fe14acd382246b299a469c12f755b3d16d3b8aa0975ba230bcc90944", "0:5f696ae8fe14acd382246b299a469c12f755b3d16d3b8aa0975ba230bcc90944",
			"EQBfaWro_hSs04IkaymaRpwS91Wz0W07iqCXW6IwvMkJRCzC", "UQBfaWro_hSs04IkaymaRpwS91Wz0W07iqCXW6IwvMkJRHEH",
			"raw_form", "EQBfaWro_hSs04IkaymaRpwS91Wz0W07iqCXW6IwvMkJRCzC",
		},
		{
			"EQD+IS/+dhjmD0r8q+1H4xtpBJK/d+LoLxkNxXOTCJeGSVFQ", "0:fe212ffe7618e60f4afcabed47e31b690492bf77e2e82f190dc5739308978649",
			"EQD-IS_-dhjmD0r8q-1H4xtpBJK_d-LoLxkNxXOTCJeGSVFQ", "UQD-IS_-dhjmD0r8q-1H4xtpBJK_d-LoLxkNxXOTCJeGSQyV",
			"friendly_bounceable", "EQD-IS_-dhjmD0r8q-1H4xtpBJK_d-LoLxkNxXOTCJeGSVFQ",
		},
		{
			"UQCn7XyU6Tbh6jJXsfm6unW-7FRaU7UAOS0dSNkEtGxOeJXS", "0:a7ed7c94e936e1ea3257b1f9baba75beec545a53b500392d1d48d904b46c4e78",
			"EQCn7XyU6Tbh6jJXsfm6unW-7FRaU7UAOS0dSNkEtGxOeMgX", "UQCn7XyU6Tbh6jJXsfm6unW-7FRaU7UAOS0dSNkEtGxOeJXS",
			"friendly_non_bounceable", "UQCn7XyU6Tbh6jJXsfm6unW-7FRaU7UAOS0dSNkEtGxOeJXS",
		},
		{
			"0QBjdZoPHQq-HgQIT610n31y8Sq0GDRz-SClAaJd_d1LT2Dg", "0:63759a0f1d0abe1e04084fad749f7d72f12ab4183473f920a501a25dfddd4b4f",
			"kQBjdZoPHQq-HgQIT610n31y8Sq0GDRz-SClAaJd_d1LTz0l", "0QBjdZoPHQq-HgQIT610n31y8Sq0GDRz-SClAaJd_d1LT2Dg",
			"friendly_non_bounceable", "0QBjdZoPHQq-HgQIT610n31y8Sq0GDRz-SClAaJd_d1LT2Dg",
		},
	}
	standard := strings.NewReplacer("-", "+", "_", "/")
	for _, c := range cases {
		for _, form := range forms {
			r := s.ask(form, "detectAddress", map[string]string{"address": c.input})
			for path, want := range map[string]any{
				"ok": true, "result.@type": "ext.utils.detectedAddress", "result.raw_form": c.raw, "result.given_type": c.given,
				"result.bounceable.@type": "ext.utils.detectedAddressVariant", "result.bounceable.b64url": c.bounceable,
				"result.bounceable.b64": standard.Replace(c.bounceable), "result.non_bounceable.b64url": c.non,
				"result.non_bounceable.b64": standard.Replace(c.non), "result.test_only": strings.HasPrefix(c.bounceable, "k"),
			} {
				if got := at(r.body, path); got != want {
					t.Errorf("%s detectAddress %s: %s is %v, want %v", form, c.input, path, got, want)
				}
			}
			if got := s.ask(form, "packAddress", map[string]string{"address": c.input}).body["result"]; got != c.packed {
				t.Errorf("%s packAddress %s: %v, want %s", form, c.input, got, c.packed)
			}
			if got := s.ask(form, "unpackAddress", map[string]string{"address": c.input}).body["result"]; got != "0:"+strings.ToUpper(c.raw[2:]) {
				t.Errorf("%s unpackAddress %s: %v, want upper-case hex", form, c.input, got)
			}
		}
	}
}

func TestHashesAreShownInAllForms(t *testing.T) {
	s := newService(t, nil)
	cases := []struct{ hex, base64, url string }{
		{"d53ae987a1ad1f1ba3ef89d12f351396899c0f5386b7689edb903c86fdd84008", "1Trph6GtHxuj74nRLzUTlomcD1OGt2ie25A8hv3YQAg=", "1Trph6GtHxuj74nRLzUTlomcD1OGt2ie25A8hv3YQAg"},
		{"6bdfb005406be10947ca9c77939a35d81ac5c88a543beddc5618c4e4e7d3d9ed", "a9+wBUBr4QlHypx3k5o12BrFyIpUO+3cVhjE5OfT2e0=", "a9-wBUBr4QlHypx3k5o12BrFyIpUO-3cVhjE5OfT2e0"},
		{"ce34b8b97810c036082454106bcfacf4143b8ad1aa60c82a9aec72be4e57c166", "zjS4uXgQwDYIJFQQa8+s9BQ7itGqYMgqmuxyvk5XwWY=", "zjS4uXgQwDYIJFQQa8-s9BQ7itGqYMgqmuxyvk5XwWY"},
		{"08f504e165de1094fe0f0cf57d8feb92b796bd89ec3addc8e388b51b9a2324f3", "CPUE4WXeEJT+Dwz1fY/rkreWvYnsOt3I44i1G5ojJPM=", "CPUE4WXeEJT-Dwz1fY_rkreWvYnsOt3I44i1G5ojJPM"},
	}
	for _, c := range cases {
		for _, form := range forms {
			for _, input := range []string{c.hex, strings.ToUpper(c.hex), "0x" + c.hex, c.base64, c.url, c.url + "="} {
				r := s.ask(form, "detectHash", map[string]string{"hash": input})
				if r.status != 200 || at(r.body, "result.hex") != c.hex || at(r.body, "result.b64") != c.base64 || at(r.body, "result.b64url") != c.url {
					t.Errorf("%s detectHash %s: %s", form, input, r.text)
				}
			}
		}
	}
	// A plus sign in a query is a space unless it was escaped.
	if r := s.send("GET", "/api/v2/detectHash?hash=a9+wBUBr4QlHypx3k5o12BrFyIpUO+3cVhjE5OfT2e0=", ""); at(r.body, "result.hex") != cases[1].hex {
		t.Errorf("plus signs in a query: %s", r.text)
	}
}

func TestBadFormsAreRefused(t *testing.T) {
	s := newService(t, nil)
	cases := []struct{ method, name, value, text string }{
		{"detectHash", "hash", "CPUE4WXeEJT+Dwz1fY/rkreWvYnsOt3I44i1G5ojJPM", "failed to parse hash"},
		{"detectHash", "hash", "not a hash", "failed to parse hash"},
		{"detectHash", "hash", "asdfg", "failed to parse hash"},
		{"detectHash", "hash", "", "empty hash"},
		{"detectHash", "hash", strings.Repeat("A", 44), "failed to parse hash"},
	}
	for _, method := range []string{"detectAddress", "packAddress", "unpackAddress"} {
		for _, value := range []string{
			"not_an_address", "invalid", "abcde", "0:83DF", " EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N",
			"EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2M", "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2", "200:" + strings.Repeat("0", 64),
			"0:" + strings.Repeat("g", 64), strings.Repeat("0", 64), "0x" + strings.Repeat("0", 64),
		} {
			cases = append(cases, struct{ method, name, value, text string }{method, "address", value, "failed to parse address"})
		}
		cases = append(cases, struct{ method, name, value, text string }{method, "address", "", "empty address"})
	}
	for _, c := range cases {
		for _, form := range forms {
			s.ask(form, c.method, map[string]string{c.name: c.value}).refusal(t, form+" "+c.method+" "+c.value, 422, c.text)
		}
	}
	for _, form := range forms {
		s.ask(form, "packAddress", nil).refusal(t, form+" without address", 422, "empty address")
		s.ask(form, "detectHash", nil).refusal(t, form+" without hash", 422, "empty hash")
	}
}
