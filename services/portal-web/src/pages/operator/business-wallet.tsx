import { Button, Skeleton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type BusinessDetails, useBusinessHealth } from "../../api/operator-businesses";
import { useMay } from "../../api/operator-session";
import { Fact, Facts } from "../../components/facts";
import { Money } from "../../components/money";
import { Section } from "../../components/section";
import { CreditDialog } from "./credit-dialog";

/** The prepaid balance, and credits for payments outside the payment provider. */
export function BusinessWallet({ business }: { business: BusinessDetails }) {
  const health = useBusinessHealth(business.id);
  const mayCredit = useMay("credit_wallets");
  const [isCrediting, { open, close }] = useDisclosure(false);
  return (
    <Section
      title="Wallet"
      description={
        mayCredit
          ? "Credit payments that you received outside the portal, for example by bank transfer."
          : "The prepaid balance, from which delivery fees are paid."
      }
      actions={
        mayCredit && (
          <Button size="xs" variant="default" onClick={open}>
            Credit wallet
          </Button>
        )
      }
    >
      <Facts>
        <Fact name="Balance">
          <Amount paise={health.data?.balancePaise} isLoading={health.isPending} />
        </Fact>
        <Fact name="Warning below">
          <Amount paise={health.data?.lowBalanceThresholdPaise} isLoading={health.isPending} />
        </Fact>
      </Facts>
      <CreditDialog business={business} opened={isCrediting} onClose={close} />
    </Section>
  );
}

function Amount({ paise, isLoading }: { paise: number | null | undefined; isLoading: boolean }) {
  if (isLoading) return <Skeleton height={20} width={96} />;
  return typeof paise === "number" ? <Money paise={paise} /> : <>Unavailable</>;
}
