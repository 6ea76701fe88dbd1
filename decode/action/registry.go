package action

// protocols are all that traces are recognised by: a line each.
var protocols = []*Protocol{
	core,
	jettons,
	nfts,
	sales,
	telegram,
	dns,
	staking,
	tonstakers,
	nominators,
	ethena,
	elections,
	subscriptions,
	multisigs,
	vestings,
	evaa,
	jvault,
	tgBTC,
	layerZero,
	cocoon,
}
