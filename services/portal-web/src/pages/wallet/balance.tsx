import { Button, Group, Paper, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useStatus } from "../../api/status";
import { useWallet, type Wallet } from "../../api/wallet";
import { useIsClosing } from "../../app/use-is-suspended";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { Money } from "../../components/money";
import { StatusBadge } from "../../components/status-badge";
import { formatPaise } from "../../format/money";
import { toneOf } from "../overview/indicator-tones";
import { ThresholdDialog } from "./threshold-dialog";
import classes from "./wallet.module.css";

/** The balance, its status and the low-balance warning. */
export function Balance({ canChange }: { canChange: boolean }) {
  const { data: wallet, error, refetch } = useWallet();
  const { data: status } = useStatus();
  const isClosing = useIsClosing();
  if (!wallet) {
    if (error)
      return <ErrorState error={error} title="The balance could not be loaded" onRetry={() => refetch()} />;
    return <Loading what="Loading the balance" height={118} radius="lg" />;
  }
  const indicator = status?.indicators.wallet;
  return (
    <Paper component="section" aria-label="Balance" p="md">
      <Group justify="space-between" align="flex-start" gap="md">
        <div>
          <Group gap="sm">
            <Text c="dimmed">Balance</Text>
            {indicator && <StatusBadge pill tone={toneOf(indicator.code)} label={indicator.label} />}
          </Group>
          <p className={classes.balance} role="status">
            <Money paise={wallet.balancePaise} />
          </p>
          <Text c="dimmed">{meaning(wallet, isClosing)}</Text>
        </div>
        <Threshold wallet={wallet} canChange={canChange} />
      </Group>
    </Paper>
  );
}

function meaning(
  { fundedAt, balancePaise, owedPaise, lowBalanceThresholdPaise }: Wallet,
  isClosing: boolean,
): string {
  if (owedPaise > 0) {
    return `You owe ${formatPaise(owedPaise)}. Top-ups, credits and refunds pay it first.`;
  }
  if (isClosing) return "Live orders are refused: the closing of your business has begun.";
  if (!fundedAt) return "The wallet has not been funded yet. Live orders need a funded wallet.";
  if (balancePaise === 0) return "Live orders are rejected until you top up.";
  if (balancePaise < lowBalanceThresholdPaise) {
    return "Below your warning level. A live order is rejected if the balance does not cover its fee.";
  }
  return "Ready for live orders.";
}

function Threshold({ wallet, canChange }: { wallet: Wallet; canChange: boolean }) {
  const [isChanging, { open, close }] = useDisclosure(false);
  const threshold = wallet.lowBalanceThresholdPaise;
  return (
    <div className={classes.threshold}>
      <Text c="dimmed">Low-balance warning</Text>
      <Text fw={500} my={2}>
        {threshold === 0 ? "Off" : `Below ${formatPaise(threshold)}`}
      </Text>
      {canChange && (
        <Button variant="default" size="xs" mt={6} onClick={open}>
          Change warning
        </Button>
      )}
      <ThresholdDialog opened={isChanging} onClose={close} thresholdPaise={threshold} />
    </div>
  );
}
