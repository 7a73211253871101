import { Table, Text, VisuallyHidden } from "@mantine/core";
import { type KeyboardEvent, useState } from "react";
import type { Spend, SpendDay } from "../../api/wallet";
import { formatPaise } from "../../format/money";
import classes from "./spend-chart.module.css";
import { compactPaise, dayLabel, feesOf, scaleTop, totalsOf } from "./spend-scale";

/** One bar per day. The pointer or the arrow keys select a day. Screen readers get a table. */
export function SpendChart({ spend }: { spend: Spend }) {
  const { days } = spend;
  const [chosen, setChosen] = useState<number | null>(null);
  const day = chosen === null ? undefined : days[chosen];
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.readout} aria-live="polite">
        {day ? (
          <Reading title={dayLabel(day.date)} {...day} />
        ) : (
          <Reading title={period(days)} {...totalsOf(days)} />
        )}
      </figcaption>
      <Bars days={days} chosen={chosen} onChoose={setChosen} />
      <DaysTable days={days} />
    </figure>
  );
}

function period(days: SpendDay[]): string {
  const [first, last] = [days[0], days.at(-1)];
  return first && last ? `${dayLabel(first.date)} – ${dayLabel(last.date)}` : "No days";
}

interface ReadingProps extends Omit<SpendDay, "date"> {
  title: string;
}

function Reading({ title, feesPaise, attemptFeesPaise, refundsPaise, orders }: ReadingProps) {
  return (
    <>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Text fw={600} size="md" className="numbers">
        {formatPaise(feesOf({ feesPaise, attemptFeesPaise }))}
      </Text>
      <Text size="xs" c="dimmed" className="numbers">
        {orders === 1 ? "1 order" : `${orders} orders`}
        {attemptFeesPaise > 0 && ` · ${formatPaise(attemptFeesPaise)} of it for further attempts`}
        {refundsPaise > 0 && ` · ${formatPaise(refundsPaise)} refunded`}
      </Text>
    </>
  );
}

interface BarsProps {
  days: SpendDay[];
  chosen: number | null;
  onChoose: (index: number | null) => void;
}

function Bars({ days, chosen, onChoose }: BarsProps) {
  const top = scaleTop(days);
  const isEmpty = days.every((day) => feesOf(day) === 0);
  const last = days.length - 1;
  function move(event: KeyboardEvent) {
    const at = chosen ?? days.length;
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last, Escape: null }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next === null ? null : Math.min(Math.max(next, 0), last));
  }
  return (
    <div className={classes.plot}>
      <div className={classes.scale} aria-hidden="true">
        <span>{compactPaise(top)}</span>
        <span>{compactPaise(top / 2)}</span>
        <span>₹0</span>
      </div>
      <div
        className={classes.bars}
        role="slider"
        tabIndex={0}
        aria-label="Day"
        aria-valuemin={1}
        aria-valuemax={days.length}
        aria-valuenow={(chosen ?? last) + 1}
        aria-valuetext={dayText(days[chosen ?? last])}
        onKeyDown={move}
        onBlur={() => onChoose(null)}
        onPointerLeave={() => onChoose(null)}
      >
        {days.map((day, index) => (
          <div
            key={day.date}
            className={classes.day}
            data-chosen={index === chosen || undefined}
            onPointerEnter={() => onChoose(index)}
          >
            {feesOf(day) > 0 && (
              <div
                className={classes.bar}
                style={{ height: `${Math.max((100 * feesOf(day)) / top, 1.5)}%` }}
              />
            )}
          </div>
        ))}
        {isEmpty && (
          <Text className={classes.nothing} c="dimmed">
            No live orders in this period
          </Text>
        )}
      </div>
      <div className={classes.ends} aria-hidden="true">
        <span>{days[0] && dayLabel(days[0].date)}</span>
        <span>{days[last] && dayLabel(days[last].date)}</span>
      </div>
    </div>
  );
}

function dayText(day: SpendDay | undefined): string {
  return day ? `${dayLabel(day.date)}: ${formatPaise(feesOf(day))}, ${day.orders} orders` : "No days";
}

function DaysTable({ days }: { days: SpendDay[] }) {
  return (
    <VisuallyHidden>
      <Table>
        <caption>Spend per day</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Delivery fees</th>
            <th scope="col">Fees of further attempts</th>
            <th scope="col">Refunds</th>
            <th scope="col">Orders</th>
          </tr>
        </thead>
        <tbody>
          {days.map((day) => (
            <tr key={day.date}>
              <th scope="row">{dayLabel(day.date)}</th>
              <td>{formatPaise(day.feesPaise)}</td>
              <td>{formatPaise(day.attemptFeesPaise ?? 0)}</td>
              <td>{formatPaise(day.refundsPaise)}</td>
              <td>{day.orders}</td>
            </tr>
          ))}
        </tbody>
      </Table>
    </VisuallyHidden>
  );
}
