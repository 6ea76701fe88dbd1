{{drop "contract_links"}}
