{{drop "merchants"}}
