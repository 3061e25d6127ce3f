CREATE TABLE "agent_jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"sequence" bigserial NOT NULL,
	"organization_id" text NOT NULL,
	"project_id" text NOT NULL,
	"repository" text NOT NULL,
	"ref" text,
	"model" text NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"pr_link" text,
	"branch" text NOT NULL,
	"run" integer DEFAULT 1 NOT NULL,
	"error" text,
	"cancel_requested_at" timestamp (3) with time zone,
	"archived_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "agent_jobs_sequence_unique" UNIQUE("sequence"),
	CONSTRAINT "agent_jobs_status_known" CHECK ("agent_jobs"."status" in ('active', 'completed', 'failed', 'archived'))
);
--> statement-breakpoint
CREATE TABLE "agent_runs" (
	"job_id" text NOT NULL,
	"run" integer NOT NULL,
	"prompt_json" text NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"base_commit" text,
	"outcome_kind" text,
	"outcome_tree" text,
	"outcome_pack_key" text,
	"outcome_error" text,
	"commit" text,
	"pr_link" text,
	"log_key" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "agent_runs_job_id_run_pk" PRIMARY KEY("job_id","run"),
	CONSTRAINT "agent_runs_status_known" CHECK ("agent_runs"."status" in ('active', 'completed', 'failed'))
);
--> statement-breakpoint
ALTER TABLE "agent_jobs" ADD CONSTRAINT "agent_jobs_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_jobs" ADD CONSTRAINT "agent_jobs_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_runs" ADD CONSTRAINT "agent_runs_job_id_agent_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."agent_jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_jobs_newest_first" ON "agent_jobs" USING btree ("project_id","sequence");--> statement-breakpoint
CREATE INDEX "agent_jobs_active" ON "agent_jobs" USING btree ("sequence") WHERE "agent_jobs"."status" = 'active';