{{drop "replays"}}
