package action

import "tonscribe/ton/address"

// marketplaces are the names of marketplaces by their addresses, and of those that
// trade all items of a collection by the collection's.
var marketplaces = map[address.Address]string{
	address.MustParse("0:584EE61B2DFF0837116D0FCB5078D93964BCBE9C05FD6A141B1BFCA5D6A43E18"): "getgems",
	address.MustParse("0:80D78A35F955A14B679FAA887FF4CD5BFC0F43B4A4EEA2A7E6927F3701B273C2"): "fragment", // Telegram names
	address.MustParse("0:0E41DC1DC3C9067ED24248580E12B3359818D83DEE0304FABCF80845EAFAFDB2"): "fragment", // Anonymous Telegram numbers
}

// marketplaceOf returns the name of a marketplace, or else that of a collection's;
// nil where neither is known.
func marketplaceOf(marketplace, collection Address) *string {
	for _, a := range []Address{marketplace, collection} {
		if len(a) == address.Size {
			if name, ok := marketplaces[address.Address(a)]; ok {
				return &name
			}
		}
	}
	return nil
}
