import { Alert, Group, Stack, Text } from "@mantine/core";
import { IconCircleCheck, IconClock } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useConfig } from "../../api/config";
import { refetchQuery } from "../../api/refetch";
import { type Checkout, type TopUp, useTopUpStatus, walletKey } from "../../api/wallet";
import { CallButton } from "../../components/call-button";
import { InlineCode } from "../../components/code-block";
import { Fact, Facts } from "../../components/facts";
import { useFocusHandover } from "../../components/use-focus-handover";
import { formatPaise } from "../../format/money";
import { openRazorpay } from "./razorpay";

interface OpenPaymentProps {
  topUp: TopUp;
  onClose: () => void;
}

/** A top-up with a pending payment. */
export function OpenPayment({ topUp: made, onClose }: OpenPaymentProps) {
  const client = useQueryClient();
  const { data: topUp } = useTopUpStatus(made);
  const amount = formatPaise(topUp.amountPaise);
  const isPending = topUp.status === "pending";
  useEffect(() => {
    if (!isPending) void refetchQuery(client, walletKey);
  }, [client, isPending]);
  if (topUp.status === "succeeded") {
    return (
      <Notice
        icon={<IconCircleCheck aria-hidden />}
        title={`${amount} added to your wallet`}
        onClose={onClose}
      >
        Payment received.
      </Notice>
    );
  }
  if (!isPending) {
    return (
      <Notice
        icon={<IconClock aria-hidden />}
        title={`The top-up of ${amount} was not paid`}
        onClose={onClose}
      >
        You were not charged. A late payment is still credited.
      </Notice>
    );
  }
  return (
    <Notice icon={<IconClock aria-hidden />} title={`Waiting for the payment of ${amount}`} onClose={onClose}>
      {topUp.checkout && <PayNow provider={topUp.provider} checkout={topUp.checkout} topUpId={topUp.id} />}
      <Text c="dimmed">
        This page updates automatically. You can close it: the payment is still credited.
      </Text>
    </Notice>
  );
}

interface NoticeProps {
  icon: React.ReactNode;
  title: string;
  onClose: () => void;
  children: React.ReactNode;
}

function Notice({ icon, title, onClose, children }: NoticeProps) {
  return (
    <Alert
      ref={useFocusHandover<HTMLDivElement>()}
      role="status"
      variant="light"
      color="gray"
      icon={icon}
      title={title}
      withCloseButton
      closeButtonLabel="Hide this top-up"
      onClose={onClose}
    >
      <Stack gap="xs">{children}</Stack>
    </Alert>
  );
}

interface PayNowProps {
  provider: string;
  checkout: Checkout;
  topUpId: string;
}

function PayNow({ provider, checkout, topUpId }: PayNowProps) {
  const { brand } = useConfig();
  const [isBlocked, setIsBlocked] = useState(provider !== "razorpay");
  const [isOpening, setIsOpening] = useState(false);
  async function pay() {
    setIsOpening(true);
    try {
      await openRazorpay(checkout, brand.name);
    } catch {
      setIsBlocked(true);
    }
    setIsOpening(false);
  }
  if (!isBlocked) {
    return (
      <Group>
        <CallButton size="xs" loading={isOpening} onClick={pay}>
          Pay {formatPaise(checkout.amountPaise)}
        </CallButton>
      </Group>
    );
  }
  return (
    <>
      <Text>
        The payment page could not be opened. Ask your delivery company how to pay, and give these details:
      </Text>
      <Facts>
        <Fact name="Provider">{provider}</Fact>
        <Fact name="Provider order">
          <InlineCode>{checkout.orderId}</InlineCode>
        </Fact>
        <Fact name="Top-up">
          <InlineCode>{topUpId}</InlineCode>
        </Fact>
        <Fact name="Amount">{formatPaise(checkout.amountPaise)}</Fact>
      </Facts>
    </>
  );
}
