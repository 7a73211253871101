import type { Order } from "../../api/orders";
import { CopyButton } from "../../components/copy-button";
import { Fact, Facts } from "../../components/facts";
import { Money } from "../../components/money";
import { Section } from "../../components/section";
import classes from "./parcel.module.css";

/** Contents, notes and ids of the order. */
export function OrderParcel({ order }: { order: Order }) {
  const parcel = order.package;
  return (
    <Section title="Parcel">
      {parcel?.items && parcel.items.length > 0 && (
        <ul className={classes.items} aria-label="Items">
          {parcel.items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items have no ids, and never change
            <li key={index} className={classes.item}>
              <span>
                {item.quantity} × {item.name}
              </span>
              {typeof item.pricePaise === "number" && <Money paise={item.pricePaise} />}
            </li>
          ))}
        </ul>
      )}
      <Facts>
        <Fact name="Contents">{parcel?.description}</Fact>
        <Fact name="Items">{parcel?.totalItems}</Fact>
        <Fact name="Weight">{typeof parcel?.weightKg === "number" && `${parcel.weightKg} kg`}</Fact>
        <Fact name="Fragile">{parcel?.fragile && "Yes, handle with care"}</Fact>
        <Fact name="Instructions">{parcel?.specialInstructions}</Fact>
        <Fact name="Customer’s note">{order.notes?.customerNote}</Fact>
        <Fact name="Internal note">{order.notes?.internalNote}</Fact>
        <Fact name="Order id">
          <Copied value={order.id} what="order id" />
        </Fact>
        <Fact name="Tracking code">
          <Copied value={order.trackingCode} what="tracking code" />
        </Fact>
        <Fact name="Source">{order.orderSource}</Fact>
      </Facts>
    </Section>
  );
}

function Copied({ value, what }: { value: string; what: string }) {
  return (
    <span className={classes.copied}>
      <span className={classes.mono}>{value}</span>
      <CopyButton value={value} label={`Copy the ${what}`} />
    </span>
  );
}
