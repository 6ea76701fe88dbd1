{{dropview "stats_touched_by_actions"}}
{{dropview "action_times_by_actions"}}
{{drop "action_times"}}
