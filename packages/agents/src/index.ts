// Schedules
export { schedule, type Schedule } from "./schedules/schedule.ts";
export { schedules, type ScheduleHandlers } from "./schedules/schedules.ts";
export {
  SCHEDULED_FOR_HEADER,
  SCHEDULE_HEADER,
  SCHEDULES,
  type CatchUp,
  type Overlap,
  type ScheduleRecord,
  type ScheduleSpec,
  type ScheduleStart,
  type ScheduleState,
  type ScheduleTarget,
  type ScheduleView,
} from "./schedules/types.ts";
export { timingText } from "./schedules/times.ts";
