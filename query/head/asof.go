package head

// AsOf returns the view in which a bundle is the newest, without what is held of the
// head: its rows are those of the bundles in memory as far back as they go without a gap,
// and of the tables before that. The bundle must be one that the view shows.
func (v *View) AsOf(mcSeqno uint32) *View {
	held := v.Held.UpTo(mcSeqno)
	past := &View{Watermark: mcSeqno, Tables: min(v.Tables, mcSeqno), GenUtime: v.GenUtime, First: v.First, Last: v.Last}
	if n := len(held); n > 0 && held[n-1].MCSeqno == mcSeqno {
		first := n - 1
		for first > 0 && held[first].PrevMCSeqno == held[first-1].MCSeqno {
			first--
		}
		past.Tables, past.Memory, past.Held = held[first].PrevMCSeqno, held[first:], held[first:]
		past.GenUtime = held[n-1].GenUtime
	}
	return past
}
