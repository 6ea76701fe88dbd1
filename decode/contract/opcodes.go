package contract

// Opcodes of messages of TEP-74, jettons, and TEP-62, NFTs.
const (
	OpJettonTransfer   = 0x0f8a7ea5
	OpInternalTransfer = 0x178d4519
	OpJettonBurn       = 0x595f07bc
	OpBurnNotification = 0x7bdd97de
	OpNFTTransfer      = 0x5fcc3d14
)
