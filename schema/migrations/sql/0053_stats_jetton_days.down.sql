{{dropview "stats_jetton_days_view"}}
{{drop "stats_jetton_days"}}
{{alter "jetton_transfers"}} DROP INDEX IF EXISTS by_now;
