{{dropview "stats_jettons_view"}}
{{dropview "stats_jettons"}}
