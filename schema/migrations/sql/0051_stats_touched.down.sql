{{dropview "stats_touched_by_jetton_transfers"}}
{{dropview "stats_touched_by_transactions"}}
{{drop "stats_touched"}}
