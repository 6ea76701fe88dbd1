{{drop "accounts"}}
