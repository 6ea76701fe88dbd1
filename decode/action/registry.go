package action

// protocols are all that traces are recognised by: a line each.
var protocols = []*Protocol{
	core,
	jettons,
	nfts,
	sales,
	telegram,
	dns,
	dexes,
	stonfi,
	stonfiV2,
	dedust,
	tonco,
	coffee,
	bidask,
}
