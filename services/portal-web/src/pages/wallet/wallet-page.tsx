import { Button, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useReloadOnChange } from "../../api/changes";
import { type TopUp, walletKey } from "../../api/wallet";
import { useMay } from "../../app/session";
import { useIsClosed } from "../../app/use-is-suspended";
import { PageHeader } from "../../components/page-header";
import { Balance } from "./balance";
import { OpenPayment } from "./open-payment";
import { PendingTopUps } from "./pending-top-ups";
import { SpendSection } from "./spend-section";
import { OwnStatement } from "./statement";
import { TopUpDialog } from "./top-up-dialog";

const SHOWN = [walletKey];

export function Component() {
  useReloadOnChange(SHOWN);
  const [mayPay, isClosed] = [useMay("manage_money"), useIsClosed()];
  const canPay = mayPay && !isClosed;
  const [isToppingUp, { open, close }] = useDisclosure(false);
  const [unpaid, setUnpaid] = useState<TopUp | null>(null);
  return (
    <>
      <PageHeader
        title="Wallet"
        description="Delivery fees of live orders are paid from the wallet. Test orders are free."
        actions={
          canPay && (
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
              Top up
            </Button>
          )
        }
      />
      <Stack gap="md">
        {unpaid && <OpenPayment key={unpaid.id} topUp={unpaid} onClose={() => setUnpaid(null)} />}
        <Balance canChange={canPay} />
        <PendingTopUps canPay={canPay} onPay={setUnpaid} />
        <SpendSection />
        <OwnStatement />
      </Stack>
      <TopUpDialog opened={isToppingUp} onClose={close} onUnpaid={setUnpaid} />
    </>
  );
}
