import { useQuery } from "@tanstack/react-query";
import { answer, api } from "./client";
import { operatorAnswer, operatorKey } from "./operator-session";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Home = Schemas["HomeView"];
export type OperatorHome = Schemas["OperatorHomeView"];

const POLL_MS = 30_000;
/** While a service's data is missing. */
const POLL_INCOMPLETE_MS = 10_000;

const pollMs = (home: { incomplete: string[] } | undefined) =>
  home && home.incomplete.length > 0 ? POLL_INCOMPLETE_MS : POLL_MS;

/** What happens on this day, which is today: live orders, cash, balance and endpoints, as far as the role may read it. */
export function useHome(day: string) {
  return useQuery({
    queryKey: ["home", day],
    queryFn: () => answer(api.GET("/v1/portal/home")),
    refetchInterval: ({ state }) => pollMs(state.data),
  });
}

/** What waits for the operator on this day, which is today. */
export function useOperatorHome(day: string) {
  return useQuery({
    queryKey: [...operatorKey, "home", day],
    queryFn: () => operatorAnswer(api.GET("/v1/operator/home")),
    refetchInterval: ({ state }) => pollMs(state.data),
  });
}
