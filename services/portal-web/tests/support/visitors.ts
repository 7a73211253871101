import { superviseVisitors } from "./browser";

superviseVisitors();
