{{dropview "stats_balances_view"}}
{{drop "stats_balances"}}
