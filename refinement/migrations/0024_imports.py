"""Imported runs: where they came from, and uploads until they are taken in."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('refinement', '0023_webhooks'),
    ]

    operations = [
        migrations.CreateModel(
            name='ImportBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('report', models.JSONField(default=dict)),
                ('total', models.PositiveIntegerField(default=0)),
                ('done', models.PositiveIntegerField(default=0)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='ImportFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=400)),
                ('data', models.BinaryField()),
            ],
            options={
                'ordering': ['position'],
            },
        ),
        migrations.CreateModel(
            name='RunImport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('name', models.CharField(max_length=400)),
                ('by_name', models.CharField(max_length=120)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('launched_by', models.CharField(blank=True, max_length=120)),
                ('launched_at', models.DateTimeField(blank=True, null=True)),
                ('stated', models.JSONField(blank=True, default=dict)),
                ('kept', models.JSONField(blank=True, default=dict)),
            ],
        ),
        migrations.AddField(
            model_name='run',
            name='source',
            field=models.CharField(blank=True, choices=[('simmer', 'Simmer folder'), ('jsonl', 'runs.jsonl'), ('wiggum', "Wiggum's own JSON")], max_length=10, null=True),
        ),
        migrations.AlterField(
            model_name='run',
            name='stop_reason',
            field=models.CharField(blank=True, choices=[('passed', 'passed'), ('max_rounds', 'max_rounds'), ('cycling', 'cycling'), ('perfect_score', 'perfect_score'), ('quality_threshold_met', 'quality_threshold_met'), ('score_regression', 'score_regression'), ('no_improvement', 'no_improvement'), ('max_iterations_reached', 'max_iterations_reached'), ('plateau', 'plateau'), ('budget_tokens', 'budget_tokens'), ('budget_seconds', 'budget_seconds'), ('budget_calls', 'budget_calls'), ('judge_failed', 'judge_failed'), ('producer_failed', 'producer_failed'), ('internal_error', 'internal_error'), ('cancelled', 'cancelled'), ('imported', 'imported')], max_length=30),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('archived_at__isnull', True), ('source__isnull', False)), fields=['project', '-id'], name='run_imported'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('archived_at__isnull', True), ('source__isnull', False)), fields=['project', 'source', '-id'], name='run_by_source'),
        ),
        migrations.AddField(
            model_name='importbatch',
            name='created_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='importbatch',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='import_batches', to='refinement.project'),
        ),
        migrations.AddField(
            model_name='importfile',
            name='batch',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='refinement.importbatch'),
        ),
        migrations.AddField(
            model_name='runimport',
            name='by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='runimport',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='refinement.project'),
        ),
        migrations.AddField(
            model_name='runimport',
            name='run',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='imported', to='refinement.run'),
        ),
        migrations.AddIndex(
            model_name='importbatch',
            index=models.Index(fields=['created_at'], name='import_batch_oldest'),
        ),
        migrations.AddConstraint(
            model_name='importbatch',
            constraint=models.CheckConstraint(condition=models.Q(('done__lte', models.F('total'))), name='import_batch_done'),
        ),
        migrations.AddConstraint(
            model_name='importfile',
            constraint=models.UniqueConstraint(fields=('batch', 'position'), name='import_file_unique'),
        ),
        migrations.AddIndex(
            model_name='runimport',
            index=models.Index(fields=['project', 'name'], name='run_import_by_name'),
        ),
        migrations.AddConstraint(
            model_name='runimport',
            constraint=models.UniqueConstraint(fields=('project', 'key'), name='run_import_once'),
        ),
        migrations.AddConstraint(
            model_name='runimport',
            constraint=models.CheckConstraint(condition=models.Q(('key', ''), _negated=True), name='run_import_has_key'),
        ),
    ]
