import { Anchor, Stack, Text } from "@mantine/core";
import type { Order } from "../../api/orders";
import { Fact, Facts } from "../../components/facts";
import { MaskedNotice } from "../../components/masked-notice";
import { Section } from "../../components/section";
import { Time } from "../../components/time";
import { dayInWords, failureReason, requestedBy } from "../../format/failure-labels";
import { sentence } from "../../format/order-labels";

/** Recipient, sender and driver. */
export function OrderParties({ order }: { order: Order }) {
  const { customer, delivery, pickup, driver, personalDataErasedAt, personalDataMasked: isMasked } = order;
  const reasons = [
    order.reasonCode && failureReason(order.reasonCode),
    order.reason && sentence(order.reason),
  ];
  return (
    <Section title="Delivery">
      <MaskedNotice isMasked={isMasked} />
      <Facts>
        <Fact name="To">
          <Party name={customer.name} phone={customer.phone} email={customer.email} address={delivery} />
        </Fact>
        <Fact name="From">
          {pickup && <Party name={pickup.businessName} phone={pickup.phone} address={pickup} />}
        </Fact>
        <Fact name="Driver">
          {driver ? (
            <Party name={driver.name} phone={driver.phone} note={driver.vehicle} />
          ) : personalDataErasedAt ? null : (
            <Text c="dimmed">{order.mode === "test" ? "Test orders get no driver" : "None assigned"}</Text>
          )}
        </Fact>
        {order.reattempt && !["failed", "returned"].includes(order.status) && (
          <Fact name={`Attempt ${order.reattempt.number}`}>
            <Asked reattempt={order.reattempt} />
          </Fact>
        )}
        <Fact name="Failed attempts">{order.failedAttempts > 0 && order.failedAttempts}</Fact>
        <Fact name="Reason">{reasons.filter(Boolean).join(": ")}</Fact>
        <Fact name="Personal data">
          {personalDataErasedAt && (
            <Text c="dimmed">
              Erased <Time at={personalDataErasedAt} />
            </Text>
          )}
        </Fact>
      </Facts>
    </Section>
  );
}

/** Who asked for an attempt that has begun, for when, and the note for its driver. */
function Asked({ reattempt }: { reattempt: NonNullable<Order["reattempt"]> }) {
  const { on, note, requestedAt } = reattempt;
  const by = requestedBy(reattempt.requestedBy);
  return (
    <>
      Asked for <Time at={requestedAt} />
      {by && ` ${by}`}
      {on ? `, for ${dayInWords(on)}` : ", as soon as possible"}
      {note && `: ${note}`}
    </>
  );
}

interface Address {
  addressLine1?: string | null;
  addressLine2?: string | null;
  landmark?: string | null;
  city?: string | null;
  state?: string | null;
  pincode?: string | null;
}

interface PartyProps {
  name?: string | null;
  phone?: string | null;
  email?: string | null;
  note?: string | null;
  address?: Address;
}

/** Who sends or receives a parcel, or drives it. */
export function Party({ name, phone, email, note, address }: PartyProps) {
  return (
    <Stack gap={2}>
      {name && <Text fw={500}>{name}</Text>}
      {note && <Text>{note}</Text>}
      {address && <Text>{addressLines(address).join(", ")}</Text>}
      {phone && <Phone number={phone} />}
      {email && (
        <Anchor href={`mailto:${email}`} size="sm">
          {email}
        </Anchor>
      )}
    </Stack>
  );
}

/** A masked number cannot be called. `inherit` takes the size of the text around it. */
export function Phone({ number, inherit = false }: { number: string; inherit?: boolean }) {
  const size = inherit ? { inherit } : { size: "sm" };
  if (!/^\+?[\d\s().-]+$/.test(number)) {
    return (
      <Text span {...size}>
        {number}
      </Text>
    );
  }
  return (
    <Anchor href={`tel:${number}`} {...size}>
      {number}
    </Anchor>
  );
}

function addressLines(address: Address): string[] {
  const { addressLine1, addressLine2, landmark, city, state, pincode } = address;
  const place = [state, pincode].filter(Boolean).join(" ");
  return [addressLine1, addressLine2, landmark, city, place].filter((line): line is string => Boolean(line));
}
