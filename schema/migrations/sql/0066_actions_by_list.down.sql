{{drop "actions_by_list"}}
