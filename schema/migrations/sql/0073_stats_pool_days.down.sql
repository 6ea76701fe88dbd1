{{dropview "stats_pool_days_view"}}
{{drop "stats_pool_days"}}
