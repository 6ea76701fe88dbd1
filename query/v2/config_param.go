package v2

import (
	"time"

	"tonscribe/query/openapi"
)

// configInfo is a cell of the configuration.
type configInfo struct {
	_      typed   `type:"configInfo"`
	Config tvmCell `json:"config"`
}

var getConfigParam = &Method{
	Name: "getConfigParam", Tag: tagConfiguration, Summary: "One config parameter",
	Description: "The cell of a parameter of the blockchain configuration; bytes is empty when there is none. Either config_id or param names it; of a GET with both, config_id counts.",
	Params: []Param{
		{Name: "config_id", Kind: Int32Kind, Min: bound(0), RuleName: "param", Description: "number of the parameter"},
		{Name: "param", Kind: Int32Kind, Min: bound(0), Description: "number of the parameter"},
		seqnoParam,
	},
	Cache:  5 * time.Second,
	Result: openapi.TypeOf[configInfo](),
	Errors: []Error{*errOneParam},
	check: func(v *Values) error {
		both := v.sent("config_id") && v.sent("param")
		if both && !v.query || !v.sent("config_id") && !v.sent("param") {
			return errOneParam
		}
		return nil
	},
	serve: func(c *call) (any, error) {
		id := c.number("config_id")
		if !c.sent("config_id") {
			id = c.number("param")
		}
		master, err := c.master()
		if err != nil {
			return nil, err
		}
		config, err := c.config(master)
		if err != nil {
			return nil, err
		}
		param, err := config.param(uint32(id))
		return configInfo{Config: tvmCell{Bytes: param}}, err
	},
}

var errOneParam = unprocessable("only one of config_id or param should be specified")

var getConfigAll = &Method{
	Name: "getConfigAll", Tag: tagConfiguration, Summary: "All config parameters",
	Description: "The dictionary of the blockchain configuration, from 32-bit numbers to cells.",
	Params:      []Param{seqnoParam}, Cache: 5 * time.Second,
	Result: openapi.TypeOf[configInfo](),
	serve: func(c *call) (any, error) {
		master, err := c.master()
		if err != nil {
			return nil, err
		}
		config, err := c.config(master)
		if err != nil {
			return nil, err
		}
		return configInfo{Config: tvmCell{Bytes: config.Root()}}, nil
	},
}
