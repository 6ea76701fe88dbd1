package repair

// otherTable is one whose rows do not come from records, or not all that is made of them.
type otherTable struct {
	says       string
	statements []string // once its rows are back
	emptied    []string // tables that are made anew by who fills them
}

// touchDays makes views compute all days anew.
var touchDays = []string{
	"INSERT INTO stats_touched SELECT 'transactions', toDate(toUInt16(intDiv(key, 86400))) AS day, now64(3, 'UTC') FROM transactions_index WHERE path = 'utime' GROUP BY day",
	"INSERT INTO stats_touched SELECT 'jetton_transfers', toDate(toUInt16(intDiv(now, 86400))) AS day, now64(3, 'UTC') FROM jetton_transfers GROUP BY day",
	"INSERT INTO stats_touched SELECT 'actions', toDate(toUInt16(intDiv(end_utime, 86400))) AS day, now64(3, 'UTC') FROM actions GROUP BY day",
}

// dayViews make the figures of touched days, each of them what it is made of first.
var dayViews = []string{"stats_days_view", "stats_jetton_days_view", "stats_jetton_totals_view", "stats_action_days_view", "stats_pool_days_view"}

// actionTimes are the rows that inserts into actions leave.
const actionTimes = `INSERT INTO action_times SELECT end_utime, start_lt, id_prefix, type, protocol, success, empty(ancestors),
	if(type = 'jetton_swap', asset, toFixedString('', 32)), if(type = 'jetton_swap', asset_out, toFixedString('', 32)),
	if(type = 'jetton_swap', amount, toUInt256(0)), if(type = 'jetton_swap', amount_out, toUInt256(0)), revision, gone FROM actions`

var (
	refetch = otherTable{"all links of tokens are looked at again, and the documents that are missing fetched again",
		[]string{"INSERT INTO metadata_fetches SELECT * REPLACE (tried + 1 AS tried, toUInt32(1) AS due, false AS had) FROM metadata_fetches FINAL WHERE hash NOT IN (SELECT hash FROM metadata)"},
		[]string{"metadata_workers"}}
	airdrops = otherTable{"the dumps of all mintless jettons are fetched again", nil, []string{"mintless_dumps", "metadata_workers"}}
	figures  = otherTable{"ready figures of all days are computed again", touchDays, nil}

	// merchants have made these rows, or the operator.
	merchants = otherTable{says: "rows of merchants that are lost cannot be brought back but from a backup: `tonscribe merchants list` and `merchants show` tell what is left"}

	// told is what merchants were told.
	told = otherTable{says: "what merchants were told is lost with it, and what had not been delivered is not sent any more: merchants look payments up in the index"}

	otherTables = map[string]otherTable{
		// The stage metadata reads links on from where it was, which tells metadata_workers: those that are back lie behind.
		"metadata_links": {emptied: []string{"metadata_workers"}},
		"metadata":       refetch, "metadata_fetches": refetch, "metadata_workers": refetch,
		"mintless_amounts": airdrops, "mintless_dumps": airdrops,
		"stats_touched": figures, "stats_days": figures, "stats_jetton_days": figures, "stats_action_days": figures, "stats_pool_days": figures,
		"action_times": {"its rows are made again of those of actions", append([]string{actionTimes}, touchDays...), nil},
		"api_keys":     {says: "keys that are lost cannot be brought back: `tonscribe keys list` shows those that are left, `keys add` makes new ones"},
		"api_usage":    {says: "counts that are lost cannot be brought back"},
		"merchants":    merchants, "merchant_keys": merchants, "merchant_endpoints": merchants, "merchant_sessions": merchants, "merchant_audit": merchants,
		"payments": {says: "payments that are lost cannot be brought back: their ends are told to nobody. A backup has them"},
		"events":   told, "deliveries": told, "delivery_attempts": told, "replays": told,
		"repairs":           {says: "nothing is lost with it"},
		"schema_migrations": {says: "the tables are made again, as far as they are missing"},
	}
)
