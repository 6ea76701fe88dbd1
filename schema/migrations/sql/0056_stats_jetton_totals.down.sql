{{dropview "stats_jetton_totals_view"}}
{{dropview "stats_jetton_totals"}}
