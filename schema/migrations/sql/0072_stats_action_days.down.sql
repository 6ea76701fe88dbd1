{{dropview "stats_action_days_view"}}
{{drop "stats_action_days"}}
