package sink

import "tonscribe/schema/record"

// documentLink is where a document of a token's content is.
type documentLink struct {
	mcSeqno uint32
	link    string
}

// documentLinks hands out the links of the contract's contents (TEP-64), each
// once.
func (c *contract) documentLinks(add func(*documentLink)) {
	seen := ""
	for _, content := range []*record.TokenContent{c.JettonMaster.GetContent(), c.NftCollection.GetContent(), c.NftItem.GetContent()} {
		if link := attribute(content, "uri"); link != "" && link != seen {
			seen = link
			add(&documentLink{c.McSeqno, link})
		}
	}
}

// metadataLinks tells the fetcher of documents what there is to fetch.
var metadataLinks = table[*documentLink]{
	name: "metadata_links",
	columns: []column[*documentLink]{
		col("mc_seqno", func(l *documentLink) uint32 { return l.mcSeqno }),
		col("link", func(l *documentLink) string { return l.link }),
	},
}
