package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/ton/jetton"
	"github.com/xssnick/tonutils-go/ton/nft"
	"github.com/xssnick/tonutils-go/ton/wallet"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet"
	"tonscribe/devnet/contracts"
	"tonscribe/ton/address"
)

// transfer is what `devnet send` is asked for.
type transfer struct {
	from        int
	to          string
	amount      string
	comment     string
	jetton      string
	nft         string
	liteServers string // path of a TON global config instead of the data folder's devnet
	seed        uint64
	wait        time.Duration
}

func devnetSendCommand(s *settings) *cobra.Command {
	t := transfer{}
	c := &cobra.Command{
		Use:   "send",
		Short: "Send a transfer from a funded wallet of the devnet",
		Long: `Send a transfer from one of the devnet's funded wallets ('tonscribe devnet
wallets' lists them), wait until it is in a block, and print the hash of the
wallet's transaction. The devnet is the one that runs in --data, or the one that
--liteserver names.`,
		Example: `  tonscribe devnet send --to ADDRESS --amount 1.5 --comment hello
  tonscribe devnet send --from 3 --to ADDRESS --jetton own --amount 20
  tonscribe devnet send --from 2 --to ADDRESS --nft own`,
		Args: cobra.NoArgs,
		RunE: s.loaded(func(cmd *cobra.Command, _ []string) error {
			if t.liteServers == "" {
				r, err := s.findDevnet()
				if err != nil {
					return err
				}
				t.liteServers, t.seed = r.Config, r.Seed
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), t.wait)
			defer cancel()
			hash, err := t.send(ctx)
			if errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("not in a block after %s: %w", t.wait, err)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%x\n", hash)
			return nil
		}),
	}
	f := c.Flags()
	f.IntVar(&t.from, "from", 0, "`NUMBER` of the funded wallet")
	f.StringVar(&t.to, "to", "", "`ADDRESS` that gets it")
	f.StringVar(&t.amount, "amount", "", "how much, in TON or in whole jettons (1.5)")
	f.StringVar(&t.comment, "comment", "", "`TEXT` that goes along")
	f.StringVar(&t.jetton, "jetton", "", "send jettons of this master `ADDRESS`; own is the funded wallets' jetton")
	f.StringVar(&t.nft, "nft", "", "send this NFT item `ADDRESS`; own is the wallet's item of the funded wallets' collection")
	f.StringVar(&t.liteServers, "liteserver", "", "TON global config `FILE` of the devnet (default: the one that runs in --data)")
	f.Uint64Var(&t.seed, "seed", 1, "with --liteserver: the devnet's seed")
	f.DurationVar(&t.wait, "wait", 2*time.Minute, "how long to wait for the transaction")
	return c
}

// send gives the hash of the transaction in which the wallet sent it.
func (t transfer) send(ctx context.Context) ([]byte, error) {
	if t.from < 0 || t.from >= devnet.Owners {
		return nil, fmt.Errorf("--from %d: want 0 to %d", t.from, devnet.Owners-1)
	}
	to, err := parseAddress("--to", t.to)
	if err != nil {
		return nil, err
	}
	if t.jetton != "" && t.nft != "" {
		return nil, errors.New("--jetton and --nft: want one of them")
	}
	pool := liteclient.NewConnectionPool()
	defer pool.Stop()
	if err := pool.AddConnectionsFromConfigFile(t.liteServers); err != nil {
		return nil, fmt.Errorf("%s: %w", t.liteServers, err)
	}
	api := ton.NewAPIClient(pool, ton.ProofCheckPolicyFast).WithRetryTimeout(5, 20*time.Second)
	owner := devnet.OwnerOf(t.seed, t.from)
	w, err := wallet.FromPrivateKey(api, owner.Key, walletVersion(owner))
	if err != nil {
		return nil, err
	}
	message, err := t.message(ctx, api, owner, to)
	if err != nil {
		return nil, err
	}
	tx, _, err := w.SendWaitTransaction(ctx, message)
	if err != nil {
		return nil, err
	}
	if tx.OutMsgCount == 0 {
		return nil, fmt.Errorf("wallet %d sent nothing in its transaction %x: it has too few toncoins", t.from, tx.Hash)
	}
	return tx.Hash, nil
}

func (t transfer) message(ctx context.Context, api ton.APIClientWrapped, owner devnet.Owner, to *tonutils.Address) (*wallet.Message, error) {
	var payload *cell.Cell
	if t.comment != "" {
		var err error
		if payload, err = wallet.CreateCommentCell(t.comment); err != nil {
			return nil, err
		}
	}
	switch {
	case t.jetton != "":
		return t.jettonMessage(ctx, api, owner, to, payload)
	case t.nft != "":
		return t.nftMessage(owner, to, payload)
	}
	amount, err := parseAmount(t.amount, 9)
	return wallet.SimpleMessageAutoBounce(to, amount, payload), err
}

// What goes along with a token's message: TON for its gas, of which the rest
// comes back, and for the notification of the receiver.
var (
	tokenValue   = tlb.MustFromTON("0.2")
	tokenForward = tlb.FromNanoTONU(1)
)

func (t transfer) jettonMessage(ctx context.Context, api ton.APIClientWrapped, owner devnet.Owner, to *tonutils.Address, payload *cell.Cell) (*wallet.Message, error) {
	master, err := parseToken("--jetton", t.jetton, devnet.OwnersJetton(t.seed).Address(0))
	if err != nil {
		return nil, err
	}
	client := jetton.NewJettonMasterClient(api, master)
	data, err := client.GetJettonData(ctx)
	if err != nil {
		return nil, fmt.Errorf("jetton %s: %w", master, err)
	}
	amount, err := parseAmount(t.amount, decimalsOf(data.Content))
	if err != nil {
		return nil, err
	}
	from := owner.Address(0)
	w, err := client.GetJettonWallet(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("jetton %s: %w", master, err)
	}
	body := contracts.JettonTransferBody(contracts.JettonTransfer{
		QueryID: uint64(time.Now().UnixNano()), Amount: amount.Nano(), Destination: to, Response: from,
		ForwardValue: tokenForward.Nano(), ForwardPayload: payload,
	})
	return wallet.SimpleMessage(w.Address(), tokenValue, body), nil
}

func (t transfer) nftMessage(owner devnet.Owner, to *tonutils.Address, payload *cell.Cell) (*wallet.Message, error) {
	item, err := parseToken("--nft", t.nft, devnet.OwnersCollection(t.seed).Item(0, uint64(t.from)).Address(0))
	if err != nil {
		return nil, err
	}
	return wallet.SimpleMessage(item, tokenValue, contracts.NFTTransferBody(contracts.NFTTransfer{
		QueryID: uint64(time.Now().UnixNano()), NewOwner: to, Response: owner.Address(0),
		ForwardValue: tokenForward.Nano(), ForwardPayload: payload,
	})), nil
}

// parseToken reads the address of a jetton master or an item; own stands for the
// one that the funded wallets have from the beginning.
func parseToken(name, text string, own *tonutils.Address) (*tonutils.Address, error) {
	if text == "own" {
		return own, nil
	}
	return parseAddress(name, text)
}

// decimalsOf is what TEP-64 says when the content does not.
func decimalsOf(content nft.ContentAny) int {
	type attributes interface{ GetAttribute(string) string }
	if c, ok := content.(attributes); ok {
		if n, ok := new(big.Int).SetString(c.GetAttribute("decimals"), 10); ok && n.IsInt64() && n.Sign() >= 0 && n.Int64() < 256 {
			return int(n.Int64())
		}
	}
	return 9
}

func parseAddress(name, text string) (*tonutils.Address, error) {
	if text == "" {
		return nil, fmt.Errorf("%s: an address is wanted", name)
	}
	a, form, err := address.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", name, text, err)
	}
	return tonutils.NewAddress(0, byte(a.Workchain()), a.ID()).Bounce(!form.NonBounceable), nil
}

func parseAmount(text string, decimals int) (tlb.Coins, error) {
	if text == "" {
		return tlb.Coins{}, errors.New("--amount is wanted")
	}
	amount, err := tlb.FromDecimal(text, decimals)
	if err != nil || amount.Nano().Sign() <= 0 {
		return tlb.Coins{}, fmt.Errorf("--amount %q: want a number above 0 with at most %d decimals", text, decimals)
	}
	return amount, nil
}

func walletVersion(owner devnet.Owner) wallet.VersionConfig {
	switch owner.Version {
	case contracts.WalletV5R1:
		return wallet.ConfigV5R1Final{NetworkGlobalID: devnet.GlobalID()}
	case contracts.WalletV4R2:
		return wallet.V4R2
	default:
		return wallet.V3R2
	}
}

func devnetWalletsCommand(s *settings) *cobra.Command {
	seed := uint64(0)
	c := &cobra.Command{
		Use:   "wallets",
		Short: "List the funded wallets of the devnet",
		Args:  cobra.NoArgs,
		RunE: s.loaded(func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				r, err := s.findDevnet()
				if err != nil {
					return err
				}
				seed = r.Seed
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			fmt.Fprintln(table, "number\taddress\tversion\tprivate key (Ed25519 seed)")
			for i := range devnet.Owners {
				o := devnet.OwnerOf(seed, i)
				fmt.Fprintf(table, "%d\t%s\t%s\t%x\n", i, o.Address(0).Bounce(false), versionNames[o.Version], o.Key.Seed())
			}
			fmt.Fprintf(table, "\njetton\t%s\ncollection\t%s\n", devnet.OwnersJetton(seed).Address(0), devnet.OwnersCollection(seed).Address(0))
			return table.Flush()
		}),
	}
	c.Flags().Uint64Var(&seed, "seed", 0, "of the devnet with this seed, whether it runs or not")
	return c
}

var versionNames = map[contracts.WalletVersion]string{
	contracts.WalletV3R2: "v3r2", contracts.WalletV4R2: "v4r2", contracts.WalletV5R1: "v5r1", contracts.WalletHighloadV3: "highload v3",
}
