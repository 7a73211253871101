import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { timeZone } from "../format/region";
import { answer, api } from "./client";
import { ApiFailure } from "./failure";
import { PAGE_SIZE, useCursorList } from "./list";
import type { components } from "./schema";
import { statusKey } from "./status";

type Schemas = components["schemas"];
export type Wallet = Schemas["WalletView"];
export type WalletEntry = Schemas["EntryView"];
export type TopUp = Schemas["TopUpView"];
export type Checkout = Schemas["CheckoutView"];
export type Spend = Schemas["SpendView"];
export type SpendDay = Schemas["SpendDay"];
export type StatementTotals = Schemas["StatementTotalsView"];

export type StatementFormat = "csv" | "xlsx";

export interface EntryFilter {
  kind?: string;
  /** RFC 3339. */
  since?: string;
  until?: string;
  orderReference?: string;
}

export const walletKey = ["wallet"] as const;
const balanceKey = [...walletKey, "balance"] as const;

/** Polling interval of a pending payment. */
const TOP_UP_POLL_MS = 3_000;

export function useWallet() {
  return useQuery({ queryKey: balanceKey, queryFn: () => answer(api.GET("/v1/portal/wallet")) });
}

export function useSetThreshold() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (thresholdPaise: number | null) =>
      answer(api.PUT("/v1/portal/wallet/threshold", { body: { thresholdPaise } })),
    onSuccess: (wallet) => {
      client.setQueryData(balanceKey, wallet);
      client.invalidateQueries({ queryKey: statusKey });
    },
  });
}

/** The same key and amount are the same top-up, so a retry never pays twice. */
export function useTopUp() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ amountPaise, idempotencyKey }: { amountPaise: number; idempotencyKey: string }) =>
      answer(
        api.POST("/v1/portal/wallet/top-ups", {
          params: { header: { "Idempotency-Key": idempotencyKey } },
          body: { amountPaise },
        }),
      ),
    onSuccess: () => {
      client.invalidateQueries({ queryKey: walletKey });
      client.invalidateQueries({ queryKey: statusKey });
    },
  });
}

/** The top-ups that wait for their payment, oldest first. */
export function usePendingTopUps() {
  return useQuery({
    queryKey: [...walletKey, "pending"],
    queryFn: () => answer(api.GET("/v1/portal/wallet/top-ups")),
    select: ({ data }) => data,
  });
}

/** A top-up, polled until its payment succeeds or fails. */
export function useTopUpStatus(topUp: TopUp) {
  return useQuery({
    queryKey: ["top-up", topUp.id],
    queryFn: () => answer(api.GET("/v1/portal/wallet/top-ups/{id}", { params: { path: { id: topUp.id } } })),
    initialData: topUp,
    initialDataUpdatedAt: 0,
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? TOP_UP_POLL_MS : false),
  });
}

export function useEntries(filter: EntryFilter) {
  return useCursorList([...walletKey, "entries", filter], (startingAfter) =>
    answer(
      api.GET("/v1/portal/wallet/entries", {
        params: { query: { ...filter, limit: PAGE_SIZE, startingAfter } },
      }),
    ),
  );
}

/** A longer period has no sums: the server refuses it. */
export const TOTALS_DAYS_MAX = 366;

/** Whether the server has balances and sums: of a period that has a start, in all or of a kind. */
export function hasTotals({ since, until, orderReference }: EntryFilter): boolean {
  return Boolean(since && !orderReference) && daysBetween(since, until) <= TOTALS_DAYS_MAX;
}

/** The balances and sums of a period. */
export function useStatementTotals(filter: EntryFilter) {
  const { since, until, kind } = filter;
  return useQuery({
    queryKey: [...walletKey, "totals", since, until, kind],
    queryFn: () =>
      answer(api.GET("/v1/portal/wallet/entries/totals", { params: { query: { since, until, kind } } })),
    enabled: hasTotals(filter),
  });
}

function daysBetween(since = "", until?: string): number {
  const end = until ? Date.parse(until) : Date.now();
  return (end - Date.parse(since)) / 86_400_000;
}

/** The download URL of the filtered statement of a wallet: `/v1/portal/wallet`. */
export function statementUrl(wallet: string, format: StatementFormat, filter: EntryFilter): string {
  const given = Object.entries(filter).filter(([, value]) => value);
  const query = new URLSearchParams(given as [string, string][]).toString();
  return `${wallet}/entries.${format}${query && `?${query}`}`;
}

/** Days in the operator's time zone, or in India's if the server does not know that zone. */
export function useSpend(days: number) {
  const zone = timeZone();
  return useQuery({
    queryKey: [...walletKey, "spend", days, zone],
    queryFn: async () => {
      try {
        return await readSpend(days, zone);
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.status !== 400) throw error;
        return await readSpend(days);
      }
    },
    placeholderData: keepPreviousData,
  });
}

function readSpend(days: number, timeZone?: string) {
  return answer(api.GET("/v1/portal/wallet/spend", { params: { query: { days, timeZone } } }));
}
