{{dropview "stats_days_view"}}
{{drop "stats_days"}}
