import { Button, Group, Skeleton } from "@mantine/core";
import { useState } from "react";
import {
  type BusinessDetails,
  useBusinessEntries,
  useBusinessHealth,
  useBusinessTotals,
} from "../../api/operator-businesses";
import { useMay } from "../../api/operator-session";
import { statementUrl, type WalletEntry } from "../../api/wallet";
import type { Column } from "../../components/data-table";
import { EntryCard, entryColumns } from "../../components/entry-columns";
import { Fact, Facts } from "../../components/facts";
import { Money } from "../../components/money";
import { Section } from "../../components/section";
import { Statement } from "../../components/statement";
import { useEntryFilter } from "../../components/use-entry-filter";
import { AdjustWallet } from "./adjust-wallet";
import type { Adjustment } from "./adjust-wallet-dialog";

/** The prepaid balance, its statement, and corrections. */
export function BusinessWallet({ business }: { business: BusinessDetails }) {
  const health = useBusinessHealth(business.id);
  const mayCredit = useMay("credit_wallets");
  const [adjustment, setAdjustment] = useState<Adjustment | null>(null);
  return (
    <>
      <Section
        title="Wallet"
        description={
          mayCredit
            ? "Credit payments that you received outside the portal, for example by bank transfer. “Take back” takes the money of one entry of the statement out of the wallet: a credit, top-up or refund. “Debit wallet” is for other corrections."
            : "The prepaid balance, from which delivery fees are paid."
        }
        actions={
          mayCredit && (
            <Group gap="xs">
              <Button size="xs" variant="default" onClick={() => setAdjustment({ isDebit: false })}>
                Credit wallet
              </Button>
              <Button size="xs" variant="default" onClick={() => setAdjustment({ isDebit: true })}>
                Debit wallet
              </Button>
            </Group>
          )
        }
      >
        <Facts>
          <Fact name="Balance">
            <Amount paise={health.data?.balancePaise} isLoading={health.isPending} />
          </Fact>
          <Fact name="Owed to you">
            {(health.data?.owedPaise ?? 0) > 0 && <Money paise={health.data?.owedPaise ?? 0} />}
          </Fact>
          <Fact name="Warning below">
            <Amount paise={health.data?.lowBalanceThresholdPaise} isLoading={health.isPending} />
          </Fact>
        </Facts>
      </Section>
      <BusinessStatement
        businessId={business.id}
        onTakeBack={mayCredit ? (entry) => setAdjustment({ isDebit: true, entry }) : undefined}
      />
      <AdjustWallet business={business} adjustment={adjustment} onClose={() => setAdjustment(null)} />
    </>
  );
}

function Amount({ paise, isLoading }: { paise: number | null | undefined; isLoading: boolean }) {
  if (isLoading) return <Skeleton height={20} width={96} />;
  return typeof paise === "number" ? <Money paise={paise} /> : <>Unavailable</>;
}

interface StatementProps {
  businessId: string;
  onTakeBack?: (entry: WalletEntry) => void;
}

function BusinessStatement({ businessId, onTakeBack }: StatementProps) {
  const entryFilter = useEntryFilter();
  const { filter } = entryFilter;
  const { data: totals } = useBusinessTotals(businessId, filter);
  const columns: Column<WalletEntry>[] = onTakeBack ? [...COLUMNS, actions(onTakeBack)] : COLUMNS;
  return (
    <Statement
      entryFilter={entryFilter}
      list={useBusinessEntries(businessId, filter)}
      totals={totals}
      fileUrl={(format) => statementUrl(`/v1/operator/businesses/${businessId}/wallet`, format, filter)}
      columns={columns}
      card={(entry) => (
        <EntryCard entry={entry} linksOrders={false} action={onTakeBack && takeBack(entry, onTakeBack)} />
      )}
      hints={HINTS}
    />
  );
}

/** Money that came in can be taken back, once. */
function takeBack(entry: WalletEntry, onTakeBack: (entry: WalletEntry) => void) {
  if (!entry.leftPaise) return null;
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      aria-label={`Take back entry ${entry.id}`}
      onClick={() => onTakeBack(entry)}
    >
      Take back
    </Button>
  );
}

const actions = (onTakeBack: (entry: WalletEntry) => void): Column<WalletEntry> => ({
  key: "act",
  header: "Actions",
  actions: true,
  width: "13%",
  align: "end",
  render: (entry) => takeBack(entry, onTakeBack),
});

const COLUMNS = entryColumns({ linksOrders: false });

/** Explains a kind without entries to the delivery company. */
const HINTS = {
  top_up_reversal:
    "Refunds and chargebacks by the payment provider appear here. What you take back yourself is a debit.",
};
